-- Probes are known by certificates of the deployment's own authority, which join tokens give them.

CREATE TABLE authorities (
    fingerprint bytea PRIMARY KEY,                          -- SHA-256 of the certificate
    certificate bytea NOT NULL,                             -- DER
    sealed_key  bytea NOT NULL,
    created_at  timestamptz NOT NULL,
    not_after   timestamptz NOT NULL
);

CREATE TABLE join_tokens (
    id           uuid PRIMARY KEY,
    team_id      int REFERENCES teams,                      -- null: its probes serve every team
    hash         bytea NOT NULL UNIQUE,
    authority    bytea NOT NULL,                            -- the fingerprint that it carries
    locations    text[] NOT NULL,
    may_stand_in boolean NOT NULL DEFAULT false,
    uses         int NOT NULL CHECK (uses > 0),
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL
);

-- A use is bound to the key that made it: who lost the answer may ask again, nobody else.
CREATE TABLE join_token_uses (
    token_id    uuid NOT NULL REFERENCES join_tokens ON DELETE CASCADE,
    key_hash    bytea NOT NULL,
    used_at     timestamptz NOT NULL,
    PRIMARY KEY (token_id, key_hash)
);

ALTER TABLE probes
    ADD key_hash     bytea UNIQUE,                          -- of its public key
    ADD may_stand_in boolean NOT NULL DEFAULT false,
    ADD draining_at  timestamptz;

CREATE TABLE probe_certificates (
    serial      bytea PRIMARY KEY,                          -- 20 bytes
    probe_id    uuid NOT NULL REFERENCES probes ON DELETE CASCADE,
    authority   bytea NOT NULL,
    issued_at   timestamptz NOT NULL,
    not_after   timestamptz NOT NULL
);
CREATE INDEX probe_certificates_probe ON probe_certificates (probe_id, not_after DESC);
