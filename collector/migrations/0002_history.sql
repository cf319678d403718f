-- A history that answers at once: outages as intervals, and numbers by hour and by day.
--
-- Location 0 is the monitor as a whole: its outages by the quorum, the checks of all its locations.

CREATE TABLE outages (
    monitor     int NOT NULL,
    location    smallint NOT NULL,
    started_at  timestamptz(3) NOT NULL,                    -- the first failed check
    ended_at    timestamptz(3),                             -- the good one that ended it
    PRIMARY KEY (monitor, location, started_at),
    CHECK (ended_at >= started_at)
);
CREATE UNIQUE INDEX outages_open ON outages (monitor, location) WHERE ended_at IS NULL;

-- What is down now lasts, whoever resolved its incident; what is up is over, whoever reopened one.
INSERT INTO outages (monitor, location, started_at, ended_at)
SELECT monitor, 0, lower(span), upper(span)
FROM (
    SELECT monitor, unnest(range_agg(tstzrange(started_at, ended_at))) AS span
    FROM (
        SELECT m.monitor, i.started_at, greatest(i.resolved_at, i.started_at) AS ended_at
        FROM incidents i JOIN monitors m ON m.team_id = i.team_id AND m.id = i.monitor_id
        WHERE i.automatic AND i.status = 'resolved'
        UNION ALL
        SELECT m.monitor, coalesce(i.started_at, m.changed_at), NULL
        FROM monitors m LEFT JOIN incidents i ON i.team_id = m.team_id AND i.monitor_id = m.id
            AND i.automatic AND i.status <> 'resolved'
        WHERE m.down
    ) known
    GROUP BY monitor
) spans
ON CONFLICT DO NOTHING;
INSERT INTO outages (monitor, location, started_at)
SELECT monitor, location, coalesce(failed_since, now()) FROM states WHERE failing;

-- For how long a result speaks for the time after it. Null: the monitor is paused, and none does.
CREATE TABLE cadences (
    monitor     int NOT NULL,
    since       timestamptz(3) NOT NULL,
    cover_s     int,
    PRIMARY KEY (monitor, since)
);

INSERT INTO cadences (monitor, since, cover_s)
SELECT monitor, created_at, interval_s + timeout_s + 15 FROM monitors;
INSERT INTO cadences (monitor, since, cover_s)
SELECT monitor, paused_at, NULL FROM monitors WHERE paused_at IS NOT NULL
ON CONFLICT (monitor, since) DO UPDATE SET cover_s = NULL;

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

-- Each row is the sum of its day's hours, so far as they are rolled up.
CREATE TABLE rollups_day (LIKE rollups_hour INCLUDING ALL);

-- Hours that late results or moved outages made untrue. The same one may be said more than once, so that
-- nobody who says it waits for another.
CREATE TABLE rollups_dirty (
    monitor     int NOT NULL,
    at          timestamptz NOT NULL,
    mark        bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (monitor, at, mark)
);

-- Hours before this are in the rollups; one row.
CREATE TABLE rollups_done (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    until       timestamptz NOT NULL
);
