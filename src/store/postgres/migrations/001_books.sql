-- The database on PostgreSQL: every table and rule of `../../migrations/001_books.sql`, whose comments apply here too.
-- A test compares both. Texts are compared byte by byte, as in SQLite, whatever the server's locale.

-- Refuses every change that its trigger passes to it.
CREATE FUNCTION myna_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0];
END $$;

-- `IS JSON` exists from PostgreSQL 16 on.
CREATE FUNCTION myna_is_object(labels text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN json_typeof(labels::json) = 'object';
EXCEPTION WHEN invalid_text_representation OR untranslatable_character THEN
  RETURN false;
END $$;

CREATE TABLE accounts (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  name TEXT COLLATE "C" NOT NULL CONSTRAINT name_length CHECK (length(name) BETWEEN 1 AND 100),
  folded_name TEXT COLLATE "C" NOT NULL CONSTRAINT name_unique UNIQUE,
  role TEXT COLLATE "C" NOT NULL CONSTRAINT role_known CHECK (role IN ('user', 'admin')),
  balance_micros BIGINT CONSTRAINT balance_range CHECK (balance_micros BETWEEN 0 AND 9007199254740991),
  created_at_ms BIGINT NOT NULL,
  disabled_at_ms BIGINT
);

CREATE TABLE keys (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
  name TEXT COLLATE "C" NOT NULL,
  prefix TEXT COLLATE "C" NOT NULL,
  hash TEXT COLLATE "C" NOT NULL UNIQUE CONSTRAINT hash_hex CHECK (length(hash) = 64 AND hash !~ '[^0-9a-f]'),
  scopes TEXT COLLATE "C" CONSTRAINT scopes_known CHECK (scopes IN (
    '[]', '["tts"]', '["usage"]', '["voices"]',
    '["tts","usage"]', '["tts","voices"]', '["usage","voices"]', '["tts","usage","voices"]'
  )),
  created_at_ms BIGINT NOT NULL,
  expires_at_ms BIGINT,
  revoked_at_ms BIGINT,
  last_used_at_ms BIGINT
);
CREATE INDEX keys_account ON keys (account_id);

CREATE TABLE operations (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL CONSTRAINT id_prefix CHECK (id ~ '^op_.'),
  account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
  key_id TEXT COLLATE "C" NOT NULL REFERENCES keys (id),
  type TEXT COLLATE "C" NOT NULL CONSTRAINT type_known CHECK (type IN ('speech', 'clone')),
  model TEXT COLLATE "C" NOT NULL,
  voice_id TEXT COLLATE "C",
  input_chars BIGINT NOT NULL CONSTRAINT input_not_negative CHECK (input_chars >= 0),
  price_micros BIGINT NOT NULL CONSTRAINT price_not_negative CHECK (price_micros >= 0),
  key_supplied BIGINT NOT NULL CONSTRAINT key_supplied_flag CHECK (key_supplied IN (0, 1)),
  idempotency_hash TEXT COLLATE "C"
    CONSTRAINT idempotency_hex CHECK (length(idempotency_hash) = 64 AND idempotency_hash !~ '[^0-9a-f]'),
  fingerprint TEXT COLLATE "C"
    CONSTRAINT fingerprint_hex CHECK (length(fingerprint) = 64 AND fingerprint !~ '[^0-9a-f]'),
  outcome TEXT COLLATE "C" CONSTRAINT outcome_known
    CHECK (outcome IN ('completed', 'stream_failed', 'cancelled', 'failed', 'not_accepted')),
  charged_micros BIGINT NOT NULL
    CONSTRAINT charge_within_price CHECK (charged_micros BETWEEN 0 AND price_micros),
  completion_bytes BIGINT CONSTRAINT bytes_not_negative CHECK (completion_bytes >= 0),
  error_code TEXT COLLATE "C",
  error_message TEXT COLLATE "C",
  created_at_ms BIGINT NOT NULL,
  started_at_ms BIGINT,
  first_audio_at_ms BIGINT,
  settled_at_ms BIGINT,
  expires_at_ms BIGINT,
  CONSTRAINT one_operation_per_key UNIQUE (account_id, type, idempotency_hash),
  CONSTRAINT clone_body_not_compared CHECK ((type = 'speech') = (fingerprint IS NOT NULL)),
  CONSTRAINT terminal_when_settled CHECK ((outcome IS NULL) = (settled_at_ms IS NULL)),
  CONSTRAINT expiry_when_settled CHECK ((outcome IS NULL) = (expires_at_ms IS NULL)),
  CONSTRAINT pending_holds_price CHECK (outcome IS NOT NULL OR charged_micros = price_micros),
  CONSTRAINT completed_costs_price CHECK (outcome IS DISTINCT FROM 'completed' OR charged_micros = price_micros),
  CONSTRAINT failure_costs_nothing CHECK (
    outcome IS NULL OR outcome = 'completed' OR charged_micros = 0
    OR (type = 'speech' AND outcome IN ('stream_failed', 'cancelled'))
  ),
  CONSTRAINT bytes_of_completed_speech
    CHECK ((completion_bytes IS NOT NULL) = (outcome IS NOT DISTINCT FROM 'completed' AND type = 'speech')),
  CONSTRAINT error_whole CHECK ((error_code IS NULL) = (error_message IS NULL)),
  CONSTRAINT error_of_failures CHECK (error_code IS NULL OR (outcome IS NOT NULL AND outcome <> 'completed')),
  CONSTRAINT audio_after_start CHECK (first_audio_at_ms IS NULL OR started_at_ms IS NOT NULL),
  CONSTRAINT key_held_while_it_counts CHECK (
    (idempotency_hash IS NOT NULL)
    = (key_supplied = 1 AND (outcome IS NULL OR outcome = 'completed' OR charged_micros > 0))
  )
);
CREATE INDEX operations_pending ON operations (id) WHERE outcome IS NULL;
CREATE INDEX operations_expiry ON operations (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

CREATE TRIGGER operations_begin_pending BEFORE INSERT ON operations FOR EACH ROW WHEN (NEW.outcome IS NOT NULL)
EXECUTE FUNCTION myna_refuse('an operation begins pending');

CREATE TRIGGER operations_terminal BEFORE UPDATE ON operations FOR EACH ROW WHEN (OLD.outcome IS NOT NULL)
EXECUTE FUNCTION myna_refuse('a terminal operation never changes');

CREATE TRIGGER operations_pending_stay BEFORE DELETE ON operations FOR EACH ROW WHEN (OLD.outcome IS NULL)
EXECUTE FUNCTION myna_refuse('a pending operation is never removed');

CREATE TRIGGER operations_as_admitted
BEFORE UPDATE OF id, account_id, key_id, type, model, voice_id, input_chars, price_micros, key_supplied, fingerprint,
  created_at_ms ON operations FOR EACH ROW
EXECUTE FUNCTION myna_refuse('what was admitted never changes');

CREATE TRIGGER operations_key_only_released BEFORE UPDATE OF idempotency_hash ON operations FOR EACH ROW
WHEN (NEW.idempotency_hash IS NOT NULL AND NEW.idempotency_hash IS DISTINCT FROM OLD.idempotency_hash)
EXECUTE FUNCTION myna_refuse('an idempotency key is only ever released');

CREATE TRIGGER operations_marked_once BEFORE UPDATE OF started_at_ms, first_audio_at_ms ON operations FOR EACH ROW
WHEN ((OLD.started_at_ms IS NOT NULL AND NEW.started_at_ms IS DISTINCT FROM OLD.started_at_ms)
  OR (OLD.first_audio_at_ms IS NOT NULL AND NEW.first_audio_at_ms IS DISTINCT FROM OLD.first_audio_at_ms))
EXECUTE FUNCTION myna_refuse('an operation starts once');

CREATE TABLE entries (
  id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
  operation_id TEXT COLLATE "C",
  kind TEXT COLLATE "C" NOT NULL,
  amount_micros BIGINT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  CONSTRAINT entry_sign CHECK (
    (kind = 'hold' AND amount_micros > 0) OR (kind IN ('refund', 'credit') AND amount_micros < 0)
  ),
  CONSTRAINT credit_without_operation CHECK ((kind = 'credit') = (operation_id IS NULL))
);
CREATE UNIQUE INDEX entries_operation ON entries (operation_id, kind) WHERE operation_id IS NOT NULL;
CREATE INDEX entries_account ON entries (account_id);

CREATE TRIGGER entries_kept BEFORE DELETE ON entries FOR EACH ROW
EXECUTE FUNCTION myna_refuse('entries are append-only');
CREATE TRIGGER entries_unchanged BEFORE UPDATE ON entries FOR EACH ROW
EXECUTE FUNCTION myna_refuse('entries are append-only');

CREATE TABLE usage (
  id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
  key_id TEXT COLLATE "C" NOT NULL REFERENCES keys (id),
  operation_id TEXT COLLATE "C" UNIQUE,
  type TEXT COLLATE "C" NOT NULL CONSTRAINT usage_type_known CHECK (type IN ('speech', 'clone', 'transcription')),
  model TEXT COLLATE "C" NOT NULL,
  characters BIGINT NOT NULL CONSTRAINT characters_not_negative CHECK (characters >= 0),
  audio_ms BIGINT NOT NULL CONSTRAINT audio_not_negative CHECK (audio_ms >= 0),
  charged_micros BIGINT NOT NULL CONSTRAINT usage_charge_not_negative CHECK (charged_micros >= 0),
  refunded_micros BIGINT NOT NULL CONSTRAINT refund_not_negative CHECK (refunded_micros >= 0),
  free BIGINT NOT NULL CONSTRAINT free_only_clones CHECK (free = 0 OR (free = 1 AND type = 'clone')),
  settled_at_ms BIGINT NOT NULL,
  CONSTRAINT usage_of_operation CHECK ((type = 'transcription') = (operation_id IS NULL))
);
CREATE INDEX usage_account ON usage (account_id, settled_at_ms);
CREATE INDEX usage_time ON usage (settled_at_ms);

CREATE TRIGGER usage_kept BEFORE DELETE ON usage FOR EACH ROW
EXECUTE FUNCTION myna_refuse('usage is append-only');
CREATE TRIGGER usage_unchanged BEFORE UPDATE ON usage FOR EACH ROW
EXECUTE FUNCTION myna_refuse('usage is append-only');

CREATE TABLE voices (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL
    CONSTRAINT voice_id_form CHECK (length(id) BETWEEN 1 AND 128 AND id !~ '[^A-Za-z0-9_.-]'),
  account_id TEXT COLLATE "C" REFERENCES accounts (id),
  key_id TEXT COLLATE "C" REFERENCES keys (id),
  consent TEXT COLLATE "C",
  public BIGINT NOT NULL DEFAULT 0 CONSTRAINT public_flag CHECK (public IN (0, 1)),
  name TEXT COLLATE "C" NOT NULL CONSTRAINT voice_name_length CHECK (length(name) BETWEEN 1 AND 100),
  description TEXT COLLATE "C" CONSTRAINT description_length CHECK (length(description) <= 500),
  labels TEXT COLLATE "C" NOT NULL DEFAULT '{}' CONSTRAINT labels_object CHECK (myna_is_object(labels)),
  language TEXT COLLATE "C",
  category TEXT COLLATE "C" NOT NULL CONSTRAINT category_known CHECK (category IN ('cloned', 'premade')),
  model TEXT COLLATE "C" NOT NULL,
  fidelity TEXT COLLATE "C" NOT NULL CONSTRAINT fidelity_known CHECK (fidelity IN ('native', 'full', 'approximate')),
  status TEXT COLLATE "C" NOT NULL CONSTRAINT status_known CHECK (status IN ('processing', 'ready', 'failed')),
  error_code TEXT COLLATE "C",
  error_message TEXT COLLATE "C",
  operation_id TEXT COLLATE "C" UNIQUE,
  clip_name TEXT COLLATE "C",
  clip_mime TEXT COLLATE "C",
  clip_bytes BIGINT,
  clip_ms BIGINT,
  clip_hash TEXT COLLATE "C" CONSTRAINT clip_hash_hex CHECK (length(clip_hash) = 64 AND clip_hash !~ '[^0-9a-f]'),
  created_at_ms BIGINT NOT NULL,
  updated_at_ms BIGINT NOT NULL,
  CONSTRAINT nobodys_voice_is_public CHECK (account_id IS NOT NULL OR public = 1),
  CONSTRAINT voice_error_when_failed
    CHECK ((status = 'failed') = (error_code IS NOT NULL) AND (error_code IS NULL) = (error_message IS NULL))
);
CREATE INDEX voices_account ON voices (account_id, created_at_ms);

CREATE TABLE agents (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
  voice_id TEXT COLLATE "C" REFERENCES voices (id) ON DELETE SET NULL
);
CREATE INDEX agents_voice ON agents (voice_id);
