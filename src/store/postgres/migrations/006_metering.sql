-- As `../../migrations/006_metering.sql`; here a constraint changes in place.
ALTER TABLE entries DROP CONSTRAINT credit_id_of_credit;
ALTER TABLE entries ADD CONSTRAINT credit_id_without_operation CHECK (credit_id IS NULL OR operation_id IS NULL);
ALTER TABLE entries DROP CONSTRAINT entry_sign;
ALTER TABLE entries ADD CONSTRAINT entry_sign CHECK (
  (kind = 'hold' AND amount_micros > 0) OR (kind IN ('refund', 'credit') AND amount_micros < 0)
  OR kind = 'prepaid' OR (kind = 'unmetered' AND amount_micros >= 0)
);
ALTER TABLE entries DROP CONSTRAINT credit_without_operation;
ALTER TABLE entries ADD CONSTRAINT credit_without_operation
  CHECK ((kind IN ('credit', 'prepaid', 'unmetered')) = (operation_id IS NULL));
