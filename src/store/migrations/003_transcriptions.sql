-- Running transcriptions, so that a crash loses none: a row is written before the engine gets the work, and is deleted
-- in the transaction that adds the result to the usage.

CREATE TABLE transcriptions (
  -- The request's id: a transcription has no operation.
  id TEXT PRIMARY KEY NOT NULL CONSTRAINT transcription_id_prefix CHECK (id GLOB 'req_?*'),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  key_id TEXT NOT NULL REFERENCES keys (id),
  model TEXT NOT NULL,
  -- The last recorded progress.
  heard_ms INTEGER NOT NULL DEFAULT 0 CONSTRAINT heard_not_negative CHECK (heard_ms >= 0),
  started_at_ms INTEGER NOT NULL
) STRICT;

CREATE TRIGGER transcriptions_as_begun
BEFORE UPDATE OF id, account_id, key_id, model, started_at_ms ON transcriptions
BEGIN SELECT RAISE(ABORT, 'what was begun never changes'); END;

CREATE TRIGGER transcriptions_heard_grows BEFORE UPDATE OF heard_ms ON transcriptions
WHEN NEW.heard_ms < OLD.heard_ms
BEGIN SELECT RAISE(ABORT, 'what was heard stays heard'); END;

CREATE TRIGGER transcriptions_leave_usage BEFORE DELETE ON transcriptions
WHEN NOT EXISTS (SELECT 1 FROM usage WHERE request_id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'a transcription ends in the usage'); END;

-- How a transcription ended, in the words of operations; NULL in older rows, and in all other rows, where the operation
-- has the outcome.
ALTER TABLE usage ADD COLUMN request_id TEXT
  CONSTRAINT request_of_transcription CHECK (request_id IS NULL OR type = 'transcription');
ALTER TABLE usage ADD COLUMN outcome TEXT
  CONSTRAINT outcome_of_request CHECK (
    (outcome IS NULL) = (request_id IS NULL)
    AND (outcome IS NULL OR outcome IN ('completed', 'stream_failed', 'failed'))
  );
ALTER TABLE usage ADD COLUMN error_code TEXT
  CONSTRAINT error_of_outcome CHECK ((error_code IS NULL) = (outcome IS NULL OR outcome = 'completed'));

CREATE UNIQUE INDEX usage_request ON usage (request_id) WHERE request_id IS NOT NULL;

CREATE TRIGGER usage_of_begun_transcription BEFORE INSERT ON usage
WHEN NEW.type = 'transcription' AND NOT EXISTS (
  SELECT 1 FROM transcriptions
  WHERE id = NEW.request_id AND account_id = NEW.account_id AND key_id = NEW.key_id AND model = NEW.model
)
BEGIN SELECT RAISE(ABORT, 'only a transcription that was begun is counted'); END;
