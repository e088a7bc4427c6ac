-- A voice is made again when its model is gone: by a clone of its own, free of charge, that works on a ready voice,
-- which stays ready. Once the clone has completed, the voice uses its model; in every other case the voice stays as it
-- was.

DROP TRIGGER voices_as_admitted;
CREATE TRIGGER voices_as_admitted
BEFORE UPDATE OF id, account_id, key_id, consent, category, clip_name, clip_mime, clip_bytes, clip_ms, clip_hash,
  created_at_ms ON voices
BEGIN SELECT RAISE(ABORT, 'what was admitted never changes'); END;

CREATE TRIGGER voices_remade BEFORE UPDATE OF model, fidelity, operation_id ON voices
WHEN OLD.status <> 'ready' OR NOT EXISTS (
  SELECT 1 FROM operations WHERE id = NEW.operation_id AND id IS NOT OLD.operation_id AND type = 'clone'
    AND outcome = 'completed' AND account_id = OLD.account_id AND voice_id = OLD.id AND model = NEW.model
)
BEGIN SELECT RAISE(ABORT, 'what was admitted never changes'); END;

DROP TRIGGER operations_clone_has_voice;
CREATE TRIGGER operations_clone_has_voice BEFORE UPDATE OF outcome ON operations
WHEN OLD.type = 'clone' AND NEW.outcome = 'completed' AND NOT EXISTS (
  SELECT 1 FROM voices WHERE operation_id = OLD.id AND status = 'processing'
    OR id = OLD.voice_id AND account_id = OLD.account_id AND status = 'ready' AND operation_id IS NOT OLD.id
)
BEGIN SELECT RAISE(ABORT, 'a completed clone has its voice'); END;

-- One clone at a time works on a voice.
CREATE UNIQUE INDEX operations_one_clone ON operations (voice_id) WHERE type = 'clone' AND outcome IS NULL;
