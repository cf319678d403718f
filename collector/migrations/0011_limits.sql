-- Rate limits that all collectors share, and the answers that an Idempotency-Key repeats.

-- Lost when the database crashes, which fills every bucket: so it costs no write to the log.
CREATE UNLOGGED TABLE rate_buckets (
    team_id    int NOT NULL,                                -- 0: of an address without a good token
    key        bytea NOT NULL,                              -- the token's id, or the address
    level      double precision NOT NULL,                   -- tokens at *at*; below 0 when more was spent
    at         timestamptz NOT NULL,
    full_at    timestamptz NOT NULL,
    PRIMARY KEY (team_id, key)
) WITH (fillfactor = 50);

CREATE TABLE idempotency_keys (
    team_id    int NOT NULL,
    token_id   uuid NOT NULL,
    key        bytea NOT NULL,                              -- SHA-256 of method, path and the key as it was sent
    sent       bytea NOT NULL,                              -- SHA-256 of the body
    status     smallint,                                    -- null: under way
    headers    jsonb NOT NULL DEFAULT '{}',
    answer     bytea,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, token_id, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);
