-- Consents: recordings in which people agree to the cloning of their voices. The recordings themselves are files in the
-- data folder, like clips.

CREATE TABLE voice_consents (
  id TEXT PRIMARY KEY NOT NULL CONSTRAINT consent_id_prefix CHECK (id GLOB 'cons_?*'),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  -- The key that sent it.
  key_id TEXT NOT NULL REFERENCES keys (id),
  name TEXT NOT NULL CONSTRAINT consent_name_length CHECK (length(name) BETWEEN 1 AND 100),
  -- BCP-47, the spoken language.
  language TEXT NOT NULL,
  clip_name TEXT NOT NULL,
  clip_mime TEXT NOT NULL,
  clip_bytes INTEGER NOT NULL CONSTRAINT consent_not_empty CHECK (clip_bytes > 0),
  clip_ms INTEGER NOT NULL CONSTRAINT consent_not_instant CHECK (clip_ms > 0),
  clip_hash TEXT NOT NULL
    CONSTRAINT consent_hash_hex CHECK (length(clip_hash) = 64 AND clip_hash NOT GLOB '*[^0-9a-f]*'),
  created_at_ms INTEGER NOT NULL
) STRICT;
-- Ids grow with time.
CREATE INDEX voice_consents_account ON voice_consents (account_id, id);

CREATE TRIGGER voice_consents_as_given
BEFORE UPDATE OF id, account_id, key_id, language, clip_name, clip_mime, clip_bytes, clip_ms, clip_hash, created_at_ms
  ON voice_consents
BEGIN SELECT RAISE(ABORT, 'what was agreed to never changes'); END;
