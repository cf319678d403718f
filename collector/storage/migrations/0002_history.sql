-- A history that answers at once: outages as intervals, and numbers by hour and by day.
--
-- Location 0 is the monitor as a whole: its outages by the quorum, the checks of all its locations.

CREATE TABLE outages (
    monitor     int NOT NULL,
    location    smallint NOT NULL,
    started_at  timestamptz NOT NULL,                       -- the first failed check
    ended_at    timestamptz,                                -- the good one that ended it
    PRIMARY KEY (monitor, location, started_at),
    CHECK (ended_at >= started_at)
);
CREATE UNIQUE INDEX outages_open ON outages (monitor, location) WHERE ended_at IS NULL;

INSERT INTO outages (monitor, location, started_at, ended_at)
SELECT DISTINCT ON (m.monitor, i.started_at)
    m.monitor, 0, i.started_at, CASE WHEN i.status = 'resolved' THEN greatest(i.resolved_at, i.started_at) END
FROM incidents i JOIN monitors m ON m.team_id = i.team_id AND m.id = i.monitor_id
WHERE i.automatic ORDER BY m.monitor, i.started_at, i.resolved_at DESC NULLS FIRST;

-- For how long a result speaks for the time after it. Null: the monitor is paused, and none does.
CREATE TABLE cadences (
    monitor     int NOT NULL,
    since       timestamptz NOT NULL,
    cover_s     int,
    PRIMARY KEY (monitor, since)
);

INSERT INTO cadences (monitor, since, cover_s)
SELECT monitor, created_at, interval_s + timeout_s + 15 FROM monitors;
INSERT INTO cadences (monitor, since, cover_s)
SELECT monitor, paused_at, NULL FROM monitors WHERE paused_at > created_at;

CREATE TABLE rollups_hour (
    monitor     int NOT NULL,
    location    smallint NOT NULL,
    at          timestamptz NOT NULL,                       -- where the hour begins, UTC
    checks      int NOT NULL,                               -- of every run
    good        int NOT NULL,                               -- scheduled ones, by outcome
    failed      int NOT NULL,
    unknown     int NOT NULL,
    answers     int NOT NULL,                               -- good checks of every run: what follows is theirs
    sum_ms      bigint NOT NULL,
    buckets     smallint[] NOT NULL,                        -- of core/histogram.py, rising
    counts      int[] NOT NULL,
    known_ms    int NOT NULL,                               -- time for which some result speaks
    down_ms     int NOT NULL,                               -- of it, in an outage
    PRIMARY KEY (monitor, location, at)
);

CREATE TABLE rollups_day (LIKE rollups_hour INCLUDING ALL);

-- Hours that late results or moved outages made untrue.
CREATE TABLE rollups_dirty (
    monitor     int NOT NULL,
    at          timestamptz NOT NULL,
    PRIMARY KEY (monitor, at)
);

-- Hours before this are in the rollups; one row.
CREATE TABLE rollups_done (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    until       timestamptz NOT NULL
);
