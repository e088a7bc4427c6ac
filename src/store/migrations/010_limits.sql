-- What one account may do at once and in a minute, if the operator wants it to differ from the server's settings.

ALTER TABLE accounts ADD COLUMN speech_concurrency INTEGER
  CONSTRAINT speech_concurrency_positive CHECK (speech_concurrency IS NULL OR speech_concurrency > 0);
ALTER TABLE accounts ADD COLUMN transcription_concurrency INTEGER
  CONSTRAINT transcription_concurrency_positive CHECK (transcription_concurrency IS NULL OR transcription_concurrency > 0);
ALTER TABLE accounts ADD COLUMN speech_per_minute INTEGER
  CONSTRAINT speech_per_minute_positive CHECK (speech_per_minute IS NULL OR speech_per_minute > 0);
ALTER TABLE accounts ADD COLUMN transcriptions_per_minute INTEGER
  CONSTRAINT transcriptions_per_minute_positive CHECK (transcriptions_per_minute IS NULL OR transcriptions_per_minute > 0);
ALTER TABLE accounts ADD COLUMN requests_per_minute INTEGER
  CONSTRAINT requests_per_minute_positive CHECK (requests_per_minute IS NULL OR requests_per_minute > 0);
