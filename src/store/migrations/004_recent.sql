-- An account's operations, the newest first: without it, every one of them is read and sorted for a page of them. Ids
-- grow with time.
CREATE INDEX operations_account ON operations (account_id, id);
