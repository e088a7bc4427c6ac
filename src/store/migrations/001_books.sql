-- The database: which accounts and keys may ask, what was requested, what it cost. The constraints repeat the rules of
-- the domain, so that no code path, present or future, can commit a state that breaks them. Times are Unix milliseconds
-- by the wall clock, which may jump back: no constraint orders two of them.

CREATE TABLE accounts (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL CONSTRAINT name_length CHECK (length(name) BETWEEN 1 AND 100),
  -- The name as it is compared: SQLite's NOCASE knows only ASCII.
  folded_name TEXT NOT NULL CONSTRAINT name_unique UNIQUE,
  role TEXT NOT NULL CONSTRAINT role_known CHECK (role IN ('user', 'admin')),
  -- NULL: unmetered. Otherwise minus the sum of the account's entries. The upper bound is what a double holds exactly.
  balance_micros INTEGER CONSTRAINT balance_range CHECK (balance_micros BETWEEN 0 AND 9007199254740991),
  created_at_ms INTEGER NOT NULL,
  disabled_at_ms INTEGER
) STRICT;

CREATE TABLE keys (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE CONSTRAINT hash_hex CHECK (length(hash) = 64 AND hash NOT GLOB '*[^0-9a-f]*'),
  -- NULL: unrestricted. Otherwise JSON in alphabetical order; this list has every set of the three known words.
  scopes TEXT CONSTRAINT scopes_known CHECK (scopes IN (
    '[]', '["tts"]', '["usage"]', '["voices"]',
    '["tts","usage"]', '["tts","voices"]', '["usage","voices"]', '["tts","usage","voices"]'
  )),
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  revoked_at_ms INTEGER,
  last_used_at_ms INTEGER
) STRICT;
CREATE INDEX keys_account ON keys (account_id);

CREATE TABLE operations (
  id TEXT PRIMARY KEY NOT NULL CONSTRAINT id_prefix CHECK (id GLOB 'op_?*'),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  key_id TEXT NOT NULL REFERENCES keys (id),
  type TEXT NOT NULL CONSTRAINT type_known CHECK (type IN ('speech', 'clone')),
  model TEXT NOT NULL,
  -- No foreign key: presets have no row, and the record outlives a deleted voice.
  voice_id TEXT,
  input_chars INTEGER NOT NULL CONSTRAINT input_not_negative CHECK (input_chars >= 0),
  price_micros INTEGER NOT NULL CONSTRAINT price_not_negative CHECK (price_micros >= 0),
  -- Whether the client sent an idempotency key. This decides the retention, even after the key was released.
  key_supplied INTEGER NOT NULL CONSTRAINT key_supplied_flag CHECK (key_supplied IN (0, 1)),
  -- NULL: no key was sent, or it is free again.
  idempotency_hash TEXT
    CONSTRAINT idempotency_hex CHECK (length(idempotency_hash) = 64 AND idempotency_hash NOT GLOB '*[^0-9a-f]*'),
  fingerprint TEXT
    CONSTRAINT fingerprint_hex CHECK (length(fingerprint) = 64 AND fingerprint NOT GLOB '*[^0-9a-f]*'),
  -- NULL: pending.
  outcome TEXT CONSTRAINT outcome_known
    CHECK (outcome IN ('completed', 'stream_failed', 'cancelled', 'failed', 'not_accepted')),
  charged_micros INTEGER NOT NULL
    CONSTRAINT charge_within_price CHECK (charged_micros BETWEEN 0 AND price_micros),
  completion_bytes INTEGER CONSTRAINT bytes_not_negative CHECK (completion_bytes >= 0),
  error_code TEXT,
  error_message TEXT,
  created_at_ms INTEGER NOT NULL,
  started_at_ms INTEGER,
  first_audio_at_ms INTEGER,
  settled_at_ms INTEGER,
  -- Written at settlement, so that the sweep finds expired rows through an index and the rule stays in one place.
  expires_at_ms INTEGER,
  CONSTRAINT one_operation_per_key UNIQUE (account_id, type, idempotency_hash),
  CONSTRAINT clone_body_not_compared CHECK ((type = 'speech') = (fingerprint IS NOT NULL)),
  CONSTRAINT terminal_when_settled CHECK ((outcome IS NULL) = (settled_at_ms IS NULL)),
  CONSTRAINT expiry_when_settled CHECK ((outcome IS NULL) = (expires_at_ms IS NULL)),
  CONSTRAINT pending_holds_price CHECK (outcome IS NOT NULL OR charged_micros = price_micros),
  CONSTRAINT completed_costs_price CHECK (outcome IS NOT 'completed' OR charged_micros = price_micros),
  CONSTRAINT failure_costs_nothing CHECK (
    outcome IS NULL OR outcome = 'completed' OR charged_micros = 0
    OR (type = 'speech' AND outcome IN ('stream_failed', 'cancelled'))
  ),
  CONSTRAINT bytes_of_completed_speech
    CHECK ((completion_bytes IS NOT NULL) = (outcome IS 'completed' AND type = 'speech')),
  CONSTRAINT error_whole CHECK ((error_code IS NULL) = (error_message IS NULL)),
  CONSTRAINT error_of_failures CHECK (error_code IS NULL OR (outcome IS NOT NULL AND outcome <> 'completed')),
  CONSTRAINT audio_after_start CHECK (first_audio_at_ms IS NULL OR started_at_ms IS NOT NULL),
  CONSTRAINT key_held_while_it_counts CHECK (
    (idempotency_hash IS NOT NULL)
    = (key_supplied = 1 AND (outcome IS NULL OR outcome = 'completed' OR charged_micros > 0))
  )
) STRICT;
CREATE INDEX operations_pending ON operations (id) WHERE outcome IS NULL;
CREATE INDEX operations_expiry ON operations (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

CREATE TRIGGER operations_begin_pending BEFORE INSERT ON operations WHEN NEW.outcome IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an operation begins pending'); END;

CREATE TRIGGER operations_terminal BEFORE UPDATE ON operations WHEN OLD.outcome IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a terminal operation never changes'); END;

CREATE TRIGGER operations_pending_stay BEFORE DELETE ON operations WHEN OLD.outcome IS NULL
BEGIN SELECT RAISE(ABORT, 'a pending operation is never removed'); END;

CREATE TRIGGER operations_as_admitted
BEFORE UPDATE OF id, account_id, key_id, type, model, voice_id, input_chars, price_micros, key_supplied, fingerprint,
  created_at_ms ON operations
BEGIN SELECT RAISE(ABORT, 'what was admitted never changes'); END;

CREATE TRIGGER operations_key_only_released BEFORE UPDATE OF idempotency_hash ON operations
WHEN NEW.idempotency_hash IS NOT NULL AND NEW.idempotency_hash IS NOT OLD.idempotency_hash
BEGIN SELECT RAISE(ABORT, 'an idempotency key is only ever released'); END;

CREATE TRIGGER operations_marked_once BEFORE UPDATE OF started_at_ms, first_audio_at_ms ON operations
WHEN (OLD.started_at_ms IS NOT NULL AND NEW.started_at_ms IS NOT OLD.started_at_ms)
  OR (OLD.first_audio_at_ms IS NOT NULL AND NEW.first_audio_at_ms IS NOT OLD.first_audio_at_ms)
BEGIN SELECT RAISE(ABORT, 'an operation starts once'); END;

-- What an account owes (positive) or has paid (negative). An operation's entries sum to its charged_micros at all
-- times.
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  -- No foreign key: entries outlive the record of the operation.
  operation_id TEXT,
  kind TEXT NOT NULL,
  amount_micros INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  CONSTRAINT entry_sign CHECK (
    (kind = 'hold' AND amount_micros > 0) OR (kind IN ('refund', 'credit') AND amount_micros < 0)
  ),
  CONSTRAINT credit_without_operation CHECK ((kind = 'credit') = (operation_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX entries_operation ON entries (operation_id, kind) WHERE operation_id IS NOT NULL;
CREATE INDEX entries_account ON entries (account_id);

CREATE TRIGGER entries_kept BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entries_unchanged BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;

-- One row for each piece of work that delivered or cost something.
CREATE TABLE usage (
  id INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  key_id TEXT NOT NULL REFERENCES keys (id),
  -- NULL for a transcription, which has no operation.
  operation_id TEXT UNIQUE,
  type TEXT NOT NULL CONSTRAINT usage_type_known CHECK (type IN ('speech', 'clone', 'transcription')),
  model TEXT NOT NULL,
  characters INTEGER NOT NULL CONSTRAINT characters_not_negative CHECK (characters >= 0),
  audio_ms INTEGER NOT NULL CONSTRAINT audio_not_negative CHECK (audio_ms >= 0),
  charged_micros INTEGER NOT NULL CONSTRAINT usage_charge_not_negative CHECK (charged_micros >= 0),
  refunded_micros INTEGER NOT NULL CONSTRAINT refund_not_negative CHECK (refunded_micros >= 0),
  free INTEGER NOT NULL CONSTRAINT free_only_clones CHECK (free = 0 OR (free = 1 AND type = 'clone')),
  settled_at_ms INTEGER NOT NULL,
  CONSTRAINT usage_of_operation CHECK ((type = 'transcription') = (operation_id IS NULL))
) STRICT;
CREATE INDEX usage_account ON usage (account_id, settled_at_ms);
CREATE INDEX usage_time ON usage (settled_at_ms);

CREATE TRIGGER usage_kept BEFORE DELETE ON usage
BEGIN SELECT RAISE(ABORT, 'usage is append-only'); END;
CREATE TRIGGER usage_unchanged BEFORE UPDATE ON usage
BEGIN SELECT RAISE(ABORT, 'usage is append-only'); END;

CREATE TABLE voices (
  id TEXT PRIMARY KEY NOT NULL
    CONSTRAINT voice_id_form CHECK (length(id) BETWEEN 1 AND 128 AND id NOT GLOB '*[^A-Za-z0-9_.-]*'),
  -- NULL: without an owner, so public.
  account_id TEXT REFERENCES accounts (id),
  -- The key that cloned it, with its declared consent.
  key_id TEXT REFERENCES keys (id),
  consent TEXT,
  public INTEGER NOT NULL DEFAULT 0 CONSTRAINT public_flag CHECK (public IN (0, 1)),
  name TEXT NOT NULL CONSTRAINT voice_name_length CHECK (length(name) BETWEEN 1 AND 100),
  description TEXT CONSTRAINT description_length CHECK (length(description) <= 500),
  labels TEXT NOT NULL DEFAULT '{}'
    CONSTRAINT labels_object CHECK (json_valid(labels) AND json_type(labels) = 'object'),
  language TEXT,
  category TEXT NOT NULL CONSTRAINT category_known CHECK (category IN ('cloned', 'premade')),
  model TEXT NOT NULL,
  fidelity TEXT NOT NULL CONSTRAINT fidelity_known CHECK (fidelity IN ('native', 'full', 'approximate')),
  status TEXT NOT NULL CONSTRAINT status_known CHECK (status IN ('processing', 'ready', 'failed')),
  error_code TEXT,
  error_message TEXT,
  -- No foreign key: the voice outlives the record.
  operation_id TEXT UNIQUE,
  clip_name TEXT,
  clip_mime TEXT,
  clip_bytes INTEGER,
  clip_ms INTEGER,
  clip_hash TEXT CONSTRAINT clip_hash_hex CHECK (length(clip_hash) = 64 AND clip_hash NOT GLOB '*[^0-9a-f]*'),
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  CONSTRAINT nobodys_voice_is_public CHECK (account_id IS NOT NULL OR public = 1),
  CONSTRAINT voice_error_when_failed
    CHECK ((status = 'failed') = (error_code IS NOT NULL) AND (error_code IS NULL) = (error_message IS NULL))
) STRICT;
CREATE INDEX voices_account ON voices (account_id, created_at_ms);

CREATE TABLE agents (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  voice_id TEXT REFERENCES voices (id) ON DELETE SET NULL
) STRICT;
CREATE INDEX agents_voice ON agents (voice_id);
