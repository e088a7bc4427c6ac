-- As `../../migrations/010_limits.sql`.

ALTER TABLE accounts ADD COLUMN speech_concurrency BIGINT
  CONSTRAINT speech_concurrency_positive CHECK (speech_concurrency IS NULL OR speech_concurrency > 0);
ALTER TABLE accounts ADD COLUMN transcription_concurrency BIGINT
  CONSTRAINT transcription_concurrency_positive CHECK (transcription_concurrency IS NULL OR transcription_concurrency > 0);
ALTER TABLE accounts ADD COLUMN speech_per_minute BIGINT
  CONSTRAINT speech_per_minute_positive CHECK (speech_per_minute IS NULL OR speech_per_minute > 0);
ALTER TABLE accounts ADD COLUMN transcriptions_per_minute BIGINT
  CONSTRAINT transcriptions_per_minute_positive CHECK (transcriptions_per_minute IS NULL OR transcriptions_per_minute > 0);
ALTER TABLE accounts ADD COLUMN requests_per_minute BIGINT
  CONSTRAINT requests_per_minute_positive CHECK (requests_per_minute IS NULL OR requests_per_minute > 0);
