-- Sessions of the console outlive a restart: the hash of a cookie's token, and the hash of the key behind it. Who reads
-- the table can sign in with none of them.

CREATE TABLE sessions (
  token_hash TEXT PRIMARY KEY NOT NULL,
  secret_hash TEXT NOT NULL,
  used_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_used ON sessions (used_at_ms);
