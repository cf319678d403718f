-- Passkeys of users (WebAuthn), and recovery codes that no longer need an authenticator app.

CREATE TABLE passkeys (
    team_id       int NOT NULL,
    id            uuid NOT NULL,
    user_id       uuid NOT NULL,
    name          text NOT NULL,
    credential_id bytea NOT NULL,                           -- by which the authenticator knows it
    public_key    bytea NOT NULL,                           -- SubjectPublicKeyInfo in DER
    sign_count    bigint NOT NULL,                          -- the newest that it showed; 0: it does not count
    created_at    timestamptz NOT NULL,
    last_used_at  timestamptz,                              -- null: it has never signed in
    PRIMARY KEY (team_id, id),
    UNIQUE (team_id, credential_id),
    FOREIGN KEY (team_id, user_id) REFERENCES users (team_id, id) ON DELETE CASCADE
);

CREATE INDEX passkeys_user ON passkeys (team_id, user_id);

-- Challenges that were answered: each counts once. They expire by themselves, so rows are kept only that long.
CREATE TABLE used_challenges (
    team_id int NOT NULL REFERENCES teams,
    hash    bytea NOT NULL,                                 -- SHA-256 of the challenge
    ends_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, hash)
);

ALTER TABLE recovery_codes DROP CONSTRAINT recovery_codes_team_id_user_id_fkey;
ALTER TABLE recovery_codes ADD FOREIGN KEY (team_id, user_id) REFERENCES users (team_id, id) ON DELETE CASCADE;
