-- An account becomes prepaid or unmetered after its creation, with an entry of a separate kind. Without that entry,
-- unmetered use would later count against the balance. SQLite cannot change a constraint in place, so the table is
-- created anew, with the same rows under the same ids.

CREATE TABLE entries_new (
  id INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  -- No foreign key: entries outlive the record of the operation.
  operation_id TEXT,
  kind TEXT NOT NULL,
  amount_micros INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  -- Distinguishes an entry without an operation from another of the same amount.
  credit_id TEXT CONSTRAINT credit_id_without_operation CHECK (credit_id IS NULL OR operation_id IS NULL),
  -- `prepaid` forgives the earlier use and sets the balance, so it has either sign; `unmetered` removes the rest of the
  -- balance, which may be zero.
  CONSTRAINT entry_sign CHECK (
    (kind = 'hold' AND amount_micros > 0) OR (kind IN ('refund', 'credit') AND amount_micros < 0)
    OR kind = 'prepaid' OR (kind = 'unmetered' AND amount_micros >= 0)
  ),
  CONSTRAINT credit_without_operation CHECK ((kind IN ('credit', 'prepaid', 'unmetered')) = (operation_id IS NULL))
) STRICT;
INSERT INTO entries_new SELECT id, account_id, operation_id, kind, amount_micros, created_at_ms, credit_id FROM entries;
DROP TABLE entries;
ALTER TABLE entries_new RENAME TO entries;

CREATE UNIQUE INDEX entries_operation ON entries (operation_id, kind) WHERE operation_id IS NOT NULL;
CREATE INDEX entries_account ON entries (account_id);
CREATE UNIQUE INDEX entries_credit ON entries (credit_id) WHERE credit_id IS NOT NULL;

CREATE TRIGGER entries_kept BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entries_unchanged BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
