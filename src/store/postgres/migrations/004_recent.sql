-- As `../../migrations/004_recent.sql`.
CREATE INDEX operations_account ON operations (account_id, id);
