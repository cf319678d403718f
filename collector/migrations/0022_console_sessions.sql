-- The console: who is signed in, on which browser.

CREATE TABLE console_sessions (
    team_id     int NOT NULL,
    id          uuid NOT NULL,
    user_id     uuid NOT NULL,
    token_id    uuid,                                       -- the API token that opened it, and that it ends with
    hash        bytea NOT NULL,                             -- SHA-256 of the cookie
    created_at  timestamptz NOT NULL,
    seen_at     timestamptz NOT NULL,
    ends_at     timestamptz NOT NULL,
    address     text NOT NULL,
    agent       text NOT NULL,
    PRIMARY KEY (team_id, id),
    FOREIGN KEY (team_id, user_id) REFERENCES users (team_id, id) ON DELETE CASCADE
) WITH (fillfactor = 70);
CREATE INDEX console_sessions_hash ON console_sessions (hash);
CREATE INDEX console_sessions_user ON console_sessions (team_id, user_id);
