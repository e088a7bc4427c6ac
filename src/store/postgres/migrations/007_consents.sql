CREATE TABLE voice_consents (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL CONSTRAINT consent_id_prefix CHECK (id ~ '^cons_.'),
  account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
  key_id TEXT COLLATE "C" NOT NULL REFERENCES keys (id),
  name TEXT COLLATE "C" NOT NULL CONSTRAINT consent_name_length CHECK (length(name) BETWEEN 1 AND 100),
  language TEXT COLLATE "C" NOT NULL,
  clip_name TEXT COLLATE "C" NOT NULL,
  clip_mime TEXT COLLATE "C" NOT NULL,
  clip_bytes BIGINT NOT NULL CONSTRAINT consent_not_empty CHECK (clip_bytes > 0),
  clip_ms BIGINT NOT NULL CONSTRAINT consent_not_instant CHECK (clip_ms > 0),
  clip_hash TEXT COLLATE "C" NOT NULL CONSTRAINT consent_hash_hex CHECK (clip_hash ~ '^[0-9a-f]{64}$'),
  created_at_ms BIGINT NOT NULL
);
CREATE INDEX voice_consents_account ON voice_consents (account_id, id);

CREATE TRIGGER voice_consents_as_given
BEFORE UPDATE OF id, account_id, key_id, language, clip_name, clip_mime, clip_bytes, clip_ms, clip_hash, created_at_ms
  ON voice_consents FOR EACH ROW
EXECUTE FUNCTION myna_refuse('what was agreed to never changes');

-- Recordings in pieces, like the files of voices. They are deleted with their consent.
CREATE TABLE consent_files (
  consent_id TEXT COLLATE "C" NOT NULL REFERENCES voice_consents (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  piece BIGINT NOT NULL,
  size_bytes BIGINT NOT NULL,
  bytes BYTEA NOT NULL,
  PRIMARY KEY (consent_id, name, piece)
);
