-- As `../../migrations/003_transcriptions.sql`.

CREATE TABLE transcriptions (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL CONSTRAINT transcription_id_prefix CHECK (id ~ '^req_.'),
  account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
  key_id TEXT COLLATE "C" NOT NULL REFERENCES keys (id),
  model TEXT COLLATE "C" NOT NULL,
  heard_ms BIGINT NOT NULL DEFAULT 0 CONSTRAINT heard_not_negative CHECK (heard_ms >= 0),
  started_at_ms BIGINT NOT NULL
);

CREATE TRIGGER transcriptions_as_begun
BEFORE UPDATE OF id, account_id, key_id, model, started_at_ms ON transcriptions FOR EACH ROW
EXECUTE FUNCTION myna_refuse('what was begun never changes');

CREATE TRIGGER transcriptions_heard_grows BEFORE UPDATE OF heard_ms ON transcriptions FOR EACH ROW
WHEN (NEW.heard_ms < OLD.heard_ms)
EXECUTE FUNCTION myna_refuse('what was heard stays heard');

CREATE FUNCTION myna_leave_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM usage WHERE request_id = OLD.id) THEN
    RAISE EXCEPTION 'a transcription ends in the usage';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER transcriptions_leave_usage BEFORE DELETE ON transcriptions FOR EACH ROW
EXECUTE FUNCTION myna_leave_usage();

ALTER TABLE usage ADD COLUMN request_id TEXT COLLATE "C"
  CONSTRAINT request_of_transcription CHECK (request_id IS NULL OR type = 'transcription');
ALTER TABLE usage ADD COLUMN outcome TEXT COLLATE "C"
  CONSTRAINT outcome_of_request CHECK (
    (outcome IS NULL) = (request_id IS NULL)
    AND (outcome IS NULL OR outcome IN ('completed', 'stream_failed', 'failed'))
  );
ALTER TABLE usage ADD COLUMN error_code TEXT COLLATE "C"
  CONSTRAINT error_of_outcome CHECK ((error_code IS NULL) = (outcome IS NULL OR outcome = 'completed'));

CREATE UNIQUE INDEX usage_request ON usage (request_id) WHERE request_id IS NOT NULL;

CREATE FUNCTION myna_begun_transcription() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT 1 FROM transcriptions
    WHERE id = NEW.request_id AND account_id = NEW.account_id AND key_id = NEW.key_id AND model = NEW.model
  ) THEN
    RAISE EXCEPTION 'only a transcription that was begun is counted';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER usage_of_begun_transcription BEFORE INSERT ON usage FOR EACH ROW WHEN (NEW.type = 'transcription')
EXECUTE FUNCTION myna_begun_transcription();
