-- Monitors that take metrics: what came when, and the newest value of each series.

-- Whoever pushes names the monitor alone.
CREATE INDEX monitors_id ON monitors (id);

-- One row for each monitor that something matching came for; without it the first sample is awaited.
CREATE TABLE receptions (
    team_id     int NOT NULL,
    monitor_id  uuid NOT NULL,
    monitor     int NOT NULL,
    revision    int NOT NULL,
    last_at     timestamptz NOT NULL,                   -- of the newest matching sample, by our clock
    samples     bigint NOT NULL,                        -- that matched since the last result
    next_at     timestamptz NOT NULL,                   -- a push after this is worth a result
    due_at      timestamptz NOT NULL,                   -- to be looked at then
    bad         boolean NOT NULL DEFAULT false,         -- what the last result said
    PRIMARY KEY (team_id, monitor_id),
    FOREIGN KEY (team_id, monitor_id) REFERENCES monitors (team_id, id) ON DELETE CASCADE
) WITH (fillfactor = 70);
CREATE INDEX receptions_due ON receptions (due_at);

CREATE TABLE series (
    team_id     int NOT NULL,
    monitor_id  uuid NOT NULL,
    key         bytea NOT NULL,                         -- a hash of the labels
    labels      jsonb NOT NULL,
    at          timestamptz NOT NULL,                   -- by the sender's clock
    value       double precision,                       -- null: there is no single number
    stale       boolean NOT NULL,                       -- its sender said that it ended
    seen_at     timestamptz NOT NULL,
    PRIMARY KEY (team_id, monitor_id, key),
    FOREIGN KEY (team_id, monitor_id) REFERENCES monitors (team_id, id) ON DELETE CASCADE
) WITH (fillfactor = 70);

-- For how long a condition has held for a series without a break.
CREATE TABLE series_conditions (
    team_id     int NOT NULL,
    monitor_id  uuid NOT NULL,
    revision    int NOT NULL,
    condition   smallint NOT NULL,                      -- its place in the configuration
    key         bytea NOT NULL,
    labels      jsonb NOT NULL,
    since       timestamptz NOT NULL,
    at          timestamptz NOT NULL,                   -- of the newest sample for which it does
    PRIMARY KEY (team_id, monitor_id, condition, key),
    FOREIGN KEY (team_id, monitor_id) REFERENCES monitors (team_id, id) ON DELETE CASCADE
);
