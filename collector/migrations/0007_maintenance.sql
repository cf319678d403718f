-- Maintenance: windows as callers write them, and the spans of time in which they are in force.

CREATE TABLE maintenance_windows (
    team_id       int NOT NULL REFERENCES teams,
    id            uuid NOT NULL,
    name          text NOT NULL,
    description   text NOT NULL,
    monitors      uuid[] NOT NULL,
    tags          jsonb NOT NULL,                           -- an object, all of it, or a list, any of it
    every         boolean NOT NULL,                         -- monitor of the team
    starts_at     timestamptz NOT NULL,
    starts_local  timestamp NOT NULL,                       -- the same by the zone's clock, as it was written
    duration_s    int NOT NULL CHECK (duration_s > 0),
    timezone      text NOT NULL,
    rrule         text,
    exdates       date[] NOT NULL,
    enabled       boolean NOT NULL,
    laid_until    timestamp,                                -- spans begin before this, by the zone's clock
    extend_at     timestamptz,                              -- null: all spans are there
    revision      int NOT NULL DEFAULT 1,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    PRIMARY KEY (team_id, id)
);
CREATE INDEX maintenance_windows_newest ON maintenance_windows (team_id, created_at DESC, id DESC);
CREATE INDEX maintenance_windows_extend ON maintenance_windows (extend_at) WHERE extend_at IS NOT NULL;

-- What began is never rewritten, only ended: uptime depends on it. So each span says for itself which
-- monitors it is for, and outlives its window.
CREATE TABLE maintenance_spans (
    team_id       int NOT NULL REFERENCES teams,
    window_id     uuid NOT NULL,
    starts_at     timestamptz NOT NULL,
    ends_at       timestamptz NOT NULL,
    every         boolean NOT NULL,
    monitors      uuid[] NOT NULL,
    names         text[] NOT NULL,                          -- of tags, any of them
    pairs         jsonb[] NOT NULL,                         -- tags with their values, all in any of them
    recount_until timestamptz,                              -- hours up to it are to be marked in the rollups,
    recount_after int NOT NULL DEFAULT 0,                   -- of monitors with higher numbers
    PRIMARY KEY (team_id, window_id, starts_at),
    CHECK (ends_at >= starts_at)
);
CREATE INDEX maintenance_spans_time ON maintenance_spans USING gist (tstzrange(starts_at, ends_at));
CREATE INDEX maintenance_spans_age ON maintenance_spans (ends_at);
CREATE INDEX maintenance_spans_recount ON maintenance_spans (team_id) WHERE recount_until IS NOT NULL;
