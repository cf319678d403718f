-- The ground: teams, monitors, probes, results, states, incidents, events, deliveries.
--
-- Every primary key and unique constraint holds its table's distribution column (team_id, or the monitor), so
-- that the tables can be spread by tenant without a new schema; the few small ones that every node would hold
-- whole (locations, probes, errors, ...) are listed in tests/platform/storage/test_schema.py.

CREATE TABLE teams (
    team_id     int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          uuid NOT NULL,
    name        text NOT NULL,
    plan        text NOT NULL CHECK (plan IN ('free', 'developer', 'pro', 'enterprise')),
    created_at  timestamptz NOT NULL
);

CREATE TABLE users (
    team_id     int NOT NULL REFERENCES teams,
    id          uuid NOT NULL,
    email       text NOT NULL,
    name        text NOT NULL,
    role        text NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (team_id, id)
);
CREATE UNIQUE INDEX users_email ON users (team_id, lower(email));

CREATE TABLE tokens (
    team_id     int NOT NULL REFERENCES teams,
    id          uuid NOT NULL,
    user_id     uuid NOT NULL,
    name        text NOT NULL,
    permission  text NOT NULL CHECK (permission IN ('read-only', 'read-write', 'admin')),
    hash        bytea NOT NULL,
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz,
    revoked_at  timestamptz,
    PRIMARY KEY (team_id, id),
    FOREIGN KEY (team_id, user_id) REFERENCES users (team_id, id)
);
CREATE INDEX tokens_hash ON tokens (hash);

-- Which keys this database needs: a known text, sealed with each.
CREATE TABLE secret_keys (
    kid         text PRIMARY KEY,
    proof       bytea NOT NULL,
    created_at  timestamptz NOT NULL
);

CREATE TABLE monitors (
    team_id             int NOT NULL REFERENCES teams,
    id                  uuid NOT NULL,
    monitor             int GENERATED ALWAYS AS IDENTITY,   -- what results, states and plans carry
    name                text NOT NULL,
    type                text NOT NULL,
    config              jsonb NOT NULL,                     -- less its secret fields
    secrets             bytea,                              -- those, sealed
    interval_s          int NOT NULL CHECK (interval_s > 0),
    timeout_s           int NOT NULL CHECK (timeout_s > 0),
    locations           text[] NOT NULL,
    tags                jsonb NOT NULL DEFAULT '{}',
    description         text NOT NULL DEFAULT '',
    severity            text NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low')),
    failure_threshold   smallint NOT NULL CHECK (failure_threshold > 0),
    recovery_threshold  smallint NOT NULL CHECK (recovery_threshold > 0),
    quorum              text NOT NULL DEFAULT 'majority',   -- majority, any, all, or a number
    group_name          text,
    depends_on          uuid[] NOT NULL DEFAULT '{}',
    runbook_url         text,
    revision            int NOT NULL DEFAULT 1,
    down                boolean NOT NULL DEFAULT false,
    changed_at          timestamptz NOT NULL,               -- of *down*
    told                boolean NOT NULL DEFAULT false,     -- monitor.down went out, monitor.up did not yet
    paused_at           timestamptz,
    silenced_until      timestamptz,
    silence_reason      text,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    PRIMARY KEY (team_id, id)
);
CREATE INDEX monitors_monitor ON monitors (monitor);
CREATE INDEX monitors_untold ON monitors (monitor) WHERE down <> told;
CREATE INDEX monitors_newest ON monitors (team_id, created_at DESC, id DESC);

CREATE TABLE locations (
    location    smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text NOT NULL UNIQUE
);

CREATE SEQUENCE session_numbers;
CREATE SEQUENCE assignment_numbers;

CREATE TABLE probes (
    probe_id     uuid PRIMARY KEY,
    team_id      int REFERENCES teams,                      -- null: serves every team
    name         text NOT NULL,
    locations    text[] NOT NULL,
    stands_in    boolean NOT NULL DEFAULT false,            -- serves locations without a probe of their own
    kinds        text[] NOT NULL DEFAULT '{}',
    version      text NOT NULL DEFAULT '',
    session      bigint,
    boot_id      text NOT NULL DEFAULT '',
    address      text NOT NULL DEFAULT '',
    connected_at timestamptz,
    ended_at     timestamptz,                               -- of that session
    seen_at      timestamptz,
    vitals       jsonb NOT NULL DEFAULT '{}',
    created_at   timestamptz NOT NULL,
    revoked_at   timestamptz
) WITH (fillfactor = 70);

CREATE TABLE probe_cursors (
    probe_id     uuid NOT NULL REFERENCES probes ON DELETE CASCADE,
    incarnation  bigint NOT NULL,
    session      bigint NOT NULL,
    last_seq     bigint NOT NULL DEFAULT 0,
    ordinal      bigint GENERATED ALWAYS AS IDENTITY,       -- later incarnations have higher ones
    moved_at     timestamptz NOT NULL,
    PRIMARY KEY (probe_id, incarnation)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);

CREATE TABLE result_gaps (
    probe_id     uuid NOT NULL,
    incarnation  bigint NOT NULL,
    first_seq    bigint NOT NULL,
    last_seq     bigint NOT NULL,
    results      bigint NOT NULL,
    reason       text NOT NULL,
    at           timestamptz NOT NULL,
    PRIMARY KEY (probe_id, incarnation, first_seq)
);

CREATE TABLE refused_results (
    probe_id     uuid NOT NULL,
    incarnation  bigint NOT NULL,
    seq          bigint NOT NULL,
    position     int NOT NULL,                              -- in the batch; -1: the batch as a whole
    result       jsonb NOT NULL,
    reason       text NOT NULL,
    at           timestamptz NOT NULL,
    PRIMARY KEY (probe_id, incarnation, seq, position)
);

CREATE TABLE errors (
    error        int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    text         text NOT NULL UNIQUE
);

-- One row per monitor and location: what is known there now, and who checks it.
-- No index on what each result changes, and room in every page, so that updates stay in their page.
CREATE TABLE states (
    monitor        int NOT NULL,
    location       smallint NOT NULL REFERENCES locations,
    turn           smallint NOT NULL,
    revision       int NOT NULL,
    assignment     bigint,
    probe_id       uuid,
    failing        boolean NOT NULL DEFAULT false,
    fails          int NOT NULL DEFAULT 0,                  -- failed checks in a row
    goods          int NOT NULL DEFAULT 0,                  -- good ones in a row, counted while failing
    failed_since   timestamptz,                             -- first failed check of the streak
    ordinal        bigint NOT NULL DEFAULT 0,               -- of the incarnation that spoke last
    last_at        timestamptz,
    last_status    smallint,
    last_ms        int,
    last_error     int,
    checkpoint     bytea,
    PRIMARY KEY (monitor, location)
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX states_probe ON states (probe_id);

-- Days are partitions; the default one catches what no day was made for, and is alarmed.
CREATE TABLE results (
    ts        timestamptz(3) NOT NULL,                      -- start of the check
    monitor   int NOT NULL,
    ms        int NOT NULL,
    error     int,                                          -- interned
    location  smallint NOT NULL,
    n         smallint NOT NULL,                            -- breaks ties
    run       smallint NOT NULL,
    status    smallint NOT NULL,
    code      smallint,
    phases    bytea,
    PRIMARY KEY (monitor, location, ts, n)
) PARTITION BY RANGE (ts);
CREATE TABLE results_default PARTITION OF results DEFAULT;

CREATE TABLE incidents (
    team_id          int NOT NULL REFERENCES teams,
    id               uuid NOT NULL,
    monitor_id       uuid,                                  -- kept when the monitor goes
    monitor_name     text,
    automatic        boolean NOT NULL,
    title            text NOT NULL,
    description      text NOT NULL DEFAULT '',
    status           text NOT NULL CHECK (status IN ('open', 'acknowledged', 'resolved')),
    severity         text NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low')),
    started_at       timestamptz NOT NULL,
    created_at       timestamptz NOT NULL,
    span_from        timestamptz NOT NULL,                  -- start of the present open span
    spans_s          bigint NOT NULL DEFAULT 0,             -- seconds of the closed spans
    acknowledged_at  timestamptz,
    acknowledged_by  jsonb,                                 -- {id, name}
    resolved_at      timestamptz,
    resolved_by      jsonb,
    resolution_note  text,
    reopened_at      timestamptz,
    failure_count    int NOT NULL DEFAULT 0,
    last_error       text,
    PRIMARY KEY (team_id, id)
);
CREATE UNIQUE INDEX incidents_one_open ON incidents (team_id, monitor_id)
    WHERE automatic AND status <> 'resolved';
CREATE INDEX incidents_newest ON incidents (team_id, created_at DESC, id DESC);
CREATE INDEX incidents_monitor ON incidents (team_id, monitor_id, created_at DESC);

CREATE TABLE incident_notes (
    team_id      int NOT NULL,
    id           uuid NOT NULL,
    incident_id  uuid NOT NULL,
    text         text NOT NULL,
    created_by   jsonb NOT NULL,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (team_id, id),
    FOREIGN KEY (team_id, incident_id) REFERENCES incidents (team_id, id)
);

CREATE TABLE timeline (
    team_id      int NOT NULL,
    incident_id  uuid NOT NULL,
    n            bigint GENERATED ALWAYS AS IDENTITY,
    at           timestamptz NOT NULL,
    type         text NOT NULL,
    actor        text NOT NULL,
    details      text NOT NULL,
    PRIMARY KEY (team_id, incident_id, n),
    FOREIGN KEY (team_id, incident_id) REFERENCES incidents (team_id, id)
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER timeline_append_only BEFORE UPDATE OR DELETE ON timeline
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER timeline_append_only_whole BEFORE TRUNCATE ON timeline
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The events of one monitor are a stream; *routed* is how far the router has come in it.
CREATE TABLE streams (
    team_id    int NOT NULL REFERENCES teams,
    stream_id  uuid NOT NULL,                               -- the monitor's id
    sequence   bigint NOT NULL DEFAULT 0,
    routed     bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (team_id, stream_id)
) WITH (fillfactor = 70);
CREATE INDEX streams_waiting ON streams (team_id) WHERE routed < sequence;

CREATE TABLE events (
    team_id     int NOT NULL,
    stream_id   uuid NOT NULL,
    sequence    bigint NOT NULL,
    id          uuid NOT NULL,
    kind        text NOT NULL,
    payload     jsonb NOT NULL,                             -- what the fact says, less id, links and sequence
    incident_id uuid,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (team_id, stream_id, sequence),
    FOREIGN KEY (team_id, stream_id) REFERENCES streams (team_id, stream_id) ON DELETE CASCADE
);
CREATE INDEX events_age ON events (created_at);

CREATE TABLE channels (
    team_id     int NOT NULL REFERENCES teams,
    id          uuid NOT NULL,
    name        text NOT NULL,
    type        text NOT NULL,
    enabled     boolean NOT NULL,
    config      jsonb NOT NULL,                             -- less its secret fields
    secrets     bytea,                                      -- those, sealed
    revision    int NOT NULL DEFAULT 1,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    PRIMARY KEY (team_id, id)
);

CREATE TABLE deliveries (
    team_id      int NOT NULL,
    id           uuid NOT NULL,
    channel_id   uuid NOT NULL,
    stream_id    uuid NOT NULL,
    sequence     bigint NOT NULL,
    event_id     uuid NOT NULL,
    event_kind   text NOT NULL,
    cause        text NOT NULL DEFAULT 'event',             -- event, escalation, redelivery
    status       smallint NOT NULL DEFAULT 0,               -- 0 pending, 1 delivered, 2 failed
    attempt      smallint NOT NULL DEFAULT 0,               -- counted before each send
    expiries     smallint NOT NULL DEFAULT 0,               -- leases that ran out; they use up no retry
    due_at       timestamptz NOT NULL,                      -- while leased: the lease's end
    leased       boolean NOT NULL DEFAULT false,
    created_at   timestamptz NOT NULL,
    finished_at  timestamptz,
    PRIMARY KEY (team_id, id),
    UNIQUE (team_id, event_id, channel_id, cause),
    FOREIGN KEY (team_id, channel_id) REFERENCES channels (team_id, id) ON DELETE CASCADE
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE status = 0;
CREATE INDEX deliveries_order ON deliveries (team_id, channel_id, stream_id, sequence) WHERE status = 0;
CREATE INDEX deliveries_newest ON deliveries (team_id, channel_id, created_at DESC);

CREATE TABLE delivery_attempts (
    team_id      int NOT NULL,
    delivery_id  uuid NOT NULL,
    attempt      smallint NOT NULL,
    at           timestamptz NOT NULL,
    status_code  smallint,
    latency_ms   int,
    error        text,
    PRIMARY KEY (team_id, delivery_id, attempt),
    FOREIGN KEY (team_id, delivery_id) REFERENCES deliveries (team_id, id) ON DELETE CASCADE
);

-- Between collectors, and from the one that decides to the one that holds a session.
CREATE TABLE signals (
    signal      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind        text NOT NULL,
    payload     jsonb NOT NULL,
    until       timestamptz NOT NULL
);

-- Work that must run once: the holder's writes carry the epoch.
CREATE TABLE leases (
    name   text PRIMARY KEY,
    owner  uuid NOT NULL,
    epoch  bigint NOT NULL,
    until  timestamptz NOT NULL
);
