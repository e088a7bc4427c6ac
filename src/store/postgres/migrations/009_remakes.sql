-- As `../../migrations/009_remakes.sql`.

DROP TRIGGER voices_as_admitted ON voices;
CREATE TRIGGER voices_as_admitted
BEFORE UPDATE OF id, account_id, key_id, consent, category, clip_name, clip_mime, clip_bytes, clip_ms, clip_hash,
  created_at_ms ON voices FOR EACH ROW
EXECUTE FUNCTION myna_refuse('what was admitted never changes');

CREATE FUNCTION myna_remade() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status <> 'ready' OR NOT EXISTS (
    SELECT 1 FROM operations WHERE id = NEW.operation_id AND id IS DISTINCT FROM OLD.operation_id AND type = 'clone'
      AND outcome = 'completed' AND account_id = OLD.account_id AND voice_id = OLD.id AND model = NEW.model
  ) THEN
    RAISE EXCEPTION 'what was admitted never changes';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER voices_remade BEFORE UPDATE OF model, fidelity, operation_id ON voices FOR EACH ROW
EXECUTE FUNCTION myna_remade();

CREATE OR REPLACE FUNCTION myna_clone_has_voice() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT 1 FROM voices WHERE operation_id = OLD.id AND status = 'processing'
      OR id = OLD.voice_id AND account_id = OLD.account_id AND status = 'ready'
        AND operation_id IS DISTINCT FROM OLD.id
  ) THEN
    RAISE EXCEPTION 'a completed clone has its voice';
  END IF;
  RETURN NEW;
END $$;

CREATE UNIQUE INDEX operations_one_clone ON operations (voice_id) WHERE type = 'clone' AND outcome IS NULL;
