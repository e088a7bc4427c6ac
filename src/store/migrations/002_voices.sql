-- Voices and clones: the names by which owners call their voices, what is needed to find a voice, and the rules that
-- tie a voice to the clone that makes it.
--
-- The table `agents` belongs to other software on the same database, which writes its rows; this program never does.
-- `id` is that software's own, `account_id` the account that the agent works for, and `voice_id` the voice that it
-- speaks with. That column is NULL if the agent has no voice, and becomes NULL when the voice is removed: the agent
-- stays. A writer must switch `PRAGMA foreign_keys` on in its own connection, or it may name a voice that does not
-- exist.

-- A clone within the free allowance; an administrator's costs nothing either, but uses none of it.
ALTER TABLE operations ADD COLUMN free INTEGER NOT NULL DEFAULT 0
  CONSTRAINT free_clone_costs_nothing CHECK (free = 0 OR (free = 1 AND type = 'clone' AND price_micros = 0));

CREATE TRIGGER operations_free_as_admitted BEFORE UPDATE OF free ON operations
BEGIN SELECT RAISE(ABORT, 'what was admitted never changes'); END;

-- The name in the form that is compared, and everything that a search looks at, one field a line: SQLite folds only
-- ASCII.
ALTER TABLE voices ADD COLUMN folded_name TEXT NOT NULL DEFAULT '' CONSTRAINT folded_name_filled
  CHECK (folded_name <> '');
ALTER TABLE voices ADD COLUMN search_text TEXT NOT NULL DEFAULT '' CONSTRAINT search_text_filled
  CHECK (instr(search_text, folded_name) = 1);

CREATE INDEX voices_name ON voices (folded_name);
CREATE INDEX voices_public ON voices (created_at_ms, id) WHERE public = 1 AND status = 'ready';
CREATE INDEX voices_failed ON voices (updated_at_ms) WHERE status = 'failed';

CREATE TABLE voice_aliases (
  -- In the owner's order.
  id INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  voice_id TEXT NOT NULL REFERENCES voices (id) ON DELETE CASCADE,
  alias TEXT NOT NULL CONSTRAINT alias_length CHECK (length(alias) BETWEEN 1 AND 128),
  -- In the form that is compared: NOCASE knows only ASCII.
  folded_alias TEXT NOT NULL CONSTRAINT folded_alias_filled CHECK (folded_alias <> ''),
  CONSTRAINT one_voice_per_alias UNIQUE (account_id, folded_alias)
) STRICT;
CREATE INDEX voice_aliases_voice ON voice_aliases (voice_id);

CREATE TRIGGER voice_aliases_of_the_owner AFTER INSERT ON voice_aliases
WHEN NOT EXISTS (SELECT 1 FROM voices WHERE id = NEW.voice_id AND account_id = NEW.account_id)
BEGIN SELECT RAISE(ABORT, 'an alias belongs to the owner of its voice'); END;

CREATE TRIGGER voice_aliases_unchanged BEFORE UPDATE ON voice_aliases
BEGIN SELECT RAISE(ABORT, 'an alias is set anew, not changed'); END;

CREATE TRIGGER voices_labels_begin_small AFTER INSERT ON voices
WHEN (SELECT count(*) FROM json_each(NEW.labels)) > 20
  OR EXISTS (SELECT 1 FROM json_each(NEW.labels) WHERE type <> 'text' OR length(key) > 64 OR length(value) > 256)
BEGIN SELECT RAISE(ABORT, 'at most 20 labels, of texts up to 64 and 256 characters'); END;

CREATE TRIGGER voices_labels_stay_small AFTER UPDATE OF labels ON voices
WHEN (SELECT count(*) FROM json_each(NEW.labels)) > 20
  OR EXISTS (SELECT 1 FROM json_each(NEW.labels) WHERE type <> 'text' OR length(key) > 64 OR length(value) > 256)
BEGIN SELECT RAISE(ABORT, 'at most 20 labels, of texts up to 64 and 256 characters'); END;

CREATE TRIGGER voices_clip_whole AFTER INSERT ON voices
WHEN NOT (
  (NEW.clip_name IS NULL AND NEW.clip_mime IS NULL AND NEW.clip_bytes IS NULL AND NEW.clip_ms IS NULL
    AND NEW.clip_hash IS NULL)
  OR (NEW.clip_name IS NOT NULL AND NEW.clip_mime IS NOT NULL AND coalesce(NEW.clip_bytes, 0) > 0
    AND coalesce(NEW.clip_ms, 0) > 0 AND NEW.clip_hash IS NOT NULL)
)
BEGIN SELECT RAISE(ABORT, 'a clip is described whole or not at all'); END;

-- A voice that comes from a clone is admitted together with it.
CREATE TRIGGER voices_begin_processing AFTER INSERT ON voices
WHEN NEW.operation_id IS NOT NULL AND (
  NEW.status <> 'processing' OR NEW.category <> 'cloned' OR NEW.clip_hash IS NULL OR NEW.key_id IS NULL
  OR NOT EXISTS (
    SELECT 1 FROM operations WHERE id = NEW.operation_id AND type = 'clone' AND outcome IS NULL
      AND account_id = NEW.account_id AND key_id = NEW.key_id AND voice_id = NEW.id AND model = NEW.model
  )
)
BEGIN SELECT RAISE(ABORT, 'a clone begins as a processing voice of a pending operation'); END;

CREATE TRIGGER voices_processing_is_a_clone AFTER INSERT ON voices
WHEN NEW.operation_id IS NULL AND NEW.status = 'processing'
BEGIN SELECT RAISE(ABORT, 'only a clone is processing'); END;

CREATE TRIGGER voices_as_admitted
BEFORE UPDATE OF id, account_id, key_id, consent, category, model, fidelity, operation_id, clip_name, clip_mime,
  clip_bytes, clip_ms, clip_hash, created_at_ms ON voices
BEGIN SELECT RAISE(ABORT, 'what was admitted never changes'); END;

CREATE TRIGGER voices_end_once BEFORE UPDATE OF status, error_code, error_message ON voices
WHEN OLD.status <> 'processing'
BEGIN SELECT RAISE(ABORT, 'a voice becomes ready or failed once'); END;

-- The operation is settled first; its record may be gone later, but never before.
CREATE TRIGGER voices_follow_their_clone AFTER UPDATE OF status ON voices
WHEN NOT EXISTS (
  SELECT 1 FROM operations WHERE id = NEW.operation_id
    AND (NEW.status = 'ready' AND outcome = 'completed' OR NEW.status = 'failed' AND outcome <> 'completed')
)
BEGIN SELECT RAISE(ABORT, 'a voice ends as its clone ended'); END;

CREATE TRIGGER voices_processing_stay BEFORE DELETE ON voices WHEN OLD.status = 'processing'
BEGIN SELECT RAISE(ABORT, 'a clone is settled before its voice is removed'); END;

CREATE TRIGGER operations_clone_has_voice BEFORE UPDATE OF outcome ON operations
WHEN OLD.type = 'clone' AND NEW.outcome = 'completed'
  AND NOT EXISTS (SELECT 1 FROM voices WHERE operation_id = OLD.id AND status = 'processing')
BEGIN SELECT RAISE(ABORT, 'a completed clone has its voice'); END;
