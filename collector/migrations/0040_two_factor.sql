-- The second factor of a sign-in by password: an authenticator app, and codes for the day it is lost.

CREATE TABLE two_factor (
    team_id       int NOT NULL,
    user_id       uuid NOT NULL,
    sealed_secret bytea NOT NULL,                           -- the secret that the app shares
    created_at    timestamptz NOT NULL,
    confirmed_at  timestamptz,                              -- null: never proved by a code, so not asked for
    last_step     bigint NOT NULL DEFAULT 0,                -- the time step of the newest accepted code
    PRIMARY KEY (team_id, user_id),
    FOREIGN KEY (team_id, user_id) REFERENCES users (team_id, id) ON DELETE CASCADE
);

CREATE TABLE recovery_codes (
    team_id  int NOT NULL,
    user_id  uuid NOT NULL,
    hash     bytea NOT NULL,                                -- SHA-256 of the code
    PRIMARY KEY (team_id, user_id, hash),
    FOREIGN KEY (team_id, user_id) REFERENCES two_factor (team_id, user_id) ON DELETE CASCADE
);
