-- Service level objectives of a team.

CREATE TABLE slos (
    team_id       int NOT NULL REFERENCES teams,
    id            uuid NOT NULL,
    name          text NOT NULL,
    description   text NOT NULL,
    target        double precision NOT NULL CHECK (target > 0 AND target < 100),
    period        text NOT NULL,
    timezone      text NOT NULL,
    indicator     text NOT NULL,
    threshold_ms  int,                                      -- of a latency indicator
    combine       text NOT NULL,
    monitors      uuid[] NOT NULL,
    groups        text[] NOT NULL,
    tags          jsonb NOT NULL,                           -- an object, all of it, or a list, any of it
    names         text[] NOT NULL,                          -- of tags, any of them
    pairs         jsonb[] NOT NULL,                         -- tags with their values, all in any of them
    revision      int NOT NULL DEFAULT 1,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    PRIMARY KEY (team_id, id),
    CHECK ((threshold_ms IS NULL) = (indicator <> 'latency'))
);
CREATE INDEX slos_newest ON slos (team_id, created_at DESC, id DESC);
