-- Several boxes on one database (`../postgres/migrations/005_boxes.sql`): which one works on what, and which one wrote
-- what, so that a box that lost the answer to a COMMIT can check whether it happened. On one box all of it is NULL.

ALTER TABLE operations ADD COLUMN box_id TEXT;
ALTER TABLE operations ADD COLUMN settled_by TEXT
  CONSTRAINT settled_by_of_terminal CHECK (settled_by IS NULL OR outcome IS NOT NULL);
-- Another box was asked to do it.
ALTER TABLE operations ADD COLUMN cancel_requested_at_ms INTEGER;

CREATE TRIGGER operations_box_as_admitted BEFORE UPDATE OF box_id ON operations
BEGIN SELECT RAISE(ABORT, 'what was admitted never changes'); END;

ALTER TABLE transcriptions ADD COLUMN box_id TEXT;

CREATE TRIGGER transcriptions_box_as_begun BEFORE UPDATE OF box_id ON transcriptions
BEGIN SELECT RAISE(ABORT, 'what was begun never changes'); END;

-- A credit has no operation whose id would distinguish it from another of the same amount.
ALTER TABLE entries ADD COLUMN credit_id TEXT
  CONSTRAINT credit_id_of_credit CHECK (credit_id IS NULL OR kind = 'credit');
CREATE UNIQUE INDEX entries_credit ON entries (credit_id) WHERE credit_id IS NOT NULL;
