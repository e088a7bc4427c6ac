-- Sessions of the console that survive a restart: the hash of a cookie's token, and the hash of the key behind it. A
-- reader of the table cannot sign in with either.

CREATE TABLE sessions (
  token_hash TEXT PRIMARY KEY NOT NULL,
  secret_hash TEXT NOT NULL,
  used_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_used ON sessions (used_at_ms);
