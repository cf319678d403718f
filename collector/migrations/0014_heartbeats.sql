-- Jobs that say themselves that they run, and what is awaited of them.

CREATE TABLE heartbeats (
    team_id        int NOT NULL,
    id             uuid NOT NULL,                           -- the monitor's
    monitor        int NOT NULL,
    key_hash       bytea NOT NULL,                          -- SHA-256 of what its pings name it by
    wait_s         int,                                     -- this, or cron
    cron           text NOT NULL DEFAULT '',
    zone           text NOT NULL DEFAULT 'UTC',
    grace_s        int NOT NULL,
    max_run_s      int,
    min_interval_s int,
    cover_s        int NOT NULL,                            -- see cadences
    base_at        timestamptz,                             -- from here on the next ping is awaited
    last_at        timestamptz,                             -- the newest ping that ended a run
    runs           jsonb NOT NULL DEFAULT '{}',             -- under way: rid to Unix milliseconds
    due_at         timestamptz,                             -- when to look whether something is late
    PRIMARY KEY (team_id, id),
    FOREIGN KEY (team_id, id) REFERENCES monitors (team_id, id) ON DELETE CASCADE
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX heartbeats_key ON heartbeats (key_hash);
CREATE INDEX heartbeats_due ON heartbeats (due_at) WHERE due_at IS NOT NULL;

-- What pings brought with them; each belongs to a result.
CREATE TABLE ping_bodies (
    monitor        int NOT NULL,
    ts             timestamptz(3) NOT NULL,
    n              smallint NOT NULL,
    body           text NOT NULL,
    PRIMARY KEY (monitor, ts, n)
);
CREATE INDEX ping_bodies_age ON ping_bodies (ts);
