-- Alert rules: when somebody is told, of which monitors, and what became of it.

CREATE TABLE rules (
    team_id             int NOT NULL REFERENCES teams,
    id                  uuid NOT NULL,
    name                text NOT NULL,
    enabled             boolean NOT NULL,
    conditions          jsonb NOT NULL,
    channels            uuid[] NOT NULL,
    every               boolean NOT NULL,                   -- monitor of the team
    monitors            uuid[] NOT NULL,
    tags                jsonb NOT NULL,                     -- an object, all of it, or a list, any of it
    names               text[] NOT NULL,                    -- of tags, any of them
    pairs               jsonb[] NOT NULL,                   -- tags with their values, all in any of them
    notify_on_recovery  boolean NOT NULL,
    repeat_minutes      int CHECK (repeat_minutes > 0),
    escalation          jsonb,
    escalate_to         uuid[] NOT NULL,
    revision            int NOT NULL DEFAULT 1,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    PRIMARY KEY (team_id, id)
);
CREATE INDEX rules_newest ON rules (team_id, created_at DESC, id DESC);

-- One for each time that a rule fired for a monitor; both may be gone since.
CREATE TABLE alerts (
    team_id            int NOT NULL REFERENCES teams,
    id                 uuid NOT NULL,
    rule_id            uuid NOT NULL,
    rule_name          text NOT NULL,
    monitor_id         uuid NOT NULL,
    monitor_name       text NOT NULL,
    status             text NOT NULL CHECK (status IN ('firing', 'acknowledged', 'recovered')),
    reason             text NOT NULL,
    value              double precision,
    threshold          double precision,
    fired_at           timestamptz NOT NULL,
    notified_at        timestamptz,                         -- null: nobody was told yet
    reminded_at        timestamptz,
    acknowledged_at    timestamptz,
    acknowledged_by    jsonb,
    recovered_at       timestamptz,
    recovered_by       jsonb,
    escalations        int NOT NULL DEFAULT 0,              -- steps taken since it was told
    told               uuid[] NOT NULL DEFAULT '{}',        -- channels that are to hear of its end
    incident_id        uuid,
    told_incident_id   uuid,                                -- the one that the first notice named
    muted_until        timestamptz,                         -- resolved by hand: so long it does not fire anew
    due_at             timestamptz,                         -- when something is to be done with it
    PRIMARY KEY (team_id, id)
);
-- The database decides which of several collectors fires.
CREATE UNIQUE INDEX alerts_one_open ON alerts (team_id, monitor_id, rule_id) WHERE status <> 'recovered';
CREATE INDEX alerts_newest ON alerts (team_id, fired_at DESC, id DESC);
CREATE INDEX alerts_monitor ON alerts (team_id, monitor_id, fired_at DESC);
CREATE INDEX alerts_at_work ON alerts (team_id, monitor_id) WHERE status <> 'recovered' OR due_at IS NOT NULL;
CREATE INDEX alerts_due ON alerts (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX alerts_incident ON alerts (team_id, incident_id) WHERE incident_id IS NOT NULL;

-- Monitors of which a rule may have something to say. Rows are only added, and taken by who looks at them.
CREATE TABLE alert_marks (
    team_id     int NOT NULL,
    mark        bigint GENERATED ALWAYS AS IDENTITY,
    monitor_id  uuid NOT NULL,
    PRIMARY KEY (team_id, mark)
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);

-- Whom an event is for, beside those who hear of its kind by themselves.
ALTER TABLE events ADD COLUMN channels uuid[] NOT NULL DEFAULT '{}';
