-- An account's operations, the newest first. Without this index, all of them are read and sorted for each page. Ids
-- grow with time.
CREATE INDEX operations_account ON operations (account_id, id);
