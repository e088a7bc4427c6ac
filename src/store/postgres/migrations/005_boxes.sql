-- Several boxes on one database: which boxes exist, what each of them works on, and shared data that a single box keeps
-- in its memory and its data folder.

ALTER TABLE operations ADD COLUMN box_id TEXT COLLATE "C";
ALTER TABLE operations ADD COLUMN settled_by TEXT COLLATE "C"
  CONSTRAINT settled_by_of_terminal CHECK (settled_by IS NULL OR outcome IS NOT NULL);
ALTER TABLE operations ADD COLUMN cancel_requested_at_ms BIGINT;

CREATE TRIGGER operations_box_as_admitted BEFORE UPDATE OF box_id ON operations FOR EACH ROW
EXECUTE FUNCTION myna_refuse('what was admitted never changes');

ALTER TABLE transcriptions ADD COLUMN box_id TEXT COLLATE "C";

CREATE TRIGGER transcriptions_box_as_begun BEFORE UPDATE OF box_id ON transcriptions FOR EACH ROW
EXECUTE FUNCTION myna_refuse('what was begun never changes');

ALTER TABLE entries ADD COLUMN credit_id TEXT COLLATE "C"
  CONSTRAINT credit_id_of_credit CHECK (credit_id IS NULL OR kind = 'credit');
CREATE UNIQUE INDEX entries_credit ON entries (credit_id) WHERE credit_id IS NOT NULL;

-- The running work of an account, counted at each admission.
CREATE INDEX operations_pending_account ON operations (account_id, type) WHERE outcome IS NULL;
CREATE INDEX transcriptions_account ON transcriptions (account_id);

-- Time by the database's own clock, as Unix milliseconds: the boxes' clocks may differ.
CREATE FUNCTION myna_now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT) $$;

-- One row for each run of a server. While its lease is valid, its work is its own; afterwards any box may settle it.
CREATE TABLE boxes (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL CONSTRAINT box_id_prefix CHECK (id ~ '^box_.'),
  -- For people: the name of the machine.
  name TEXT COLLATE "C" NOT NULL,
  started_at_ms BIGINT NOT NULL,
  lease_until_ms BIGINT NOT NULL,
  -- Its own report: version, address, device, models, load. JSON.
  status TEXT COLLATE "C" NOT NULL DEFAULT '{}'
);

-- Sessions of the console: the hash of a cookie's token, and the hash of the key behind it.
CREATE TABLE sessions (
  token_hash TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  secret_hash TEXT COLLATE "C" NOT NULL,
  used_at_ms BIGINT NOT NULL
);
CREATE INDEX sessions_used ON sessions (used_at_ms);

-- Files of voices in pieces, so that memory never holds more than one whole copy of a file. They are deleted with their
-- voice.
CREATE TABLE voice_files (
  voice_id TEXT COLLATE "C" NOT NULL REFERENCES voices (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  piece BIGINT NOT NULL,
  -- Of the whole file.
  size_bytes BIGINT NOT NULL,
  bytes BYTEA NOT NULL,
  PRIMARY KEY (voice_id, name, piece)
);
