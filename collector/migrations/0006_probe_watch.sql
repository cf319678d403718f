-- Probes that fell silent or see nothing: since when, who was told of it, and how they did hour by hour.

ALTER TABLE probes
    ADD blind_since timestamptz,                            -- none of its canaries answers; null: it sees out
    ADD stopped     boolean NOT NULL DEFAULT false;         -- it ended its last session by itself

-- The monitor of type agent_metrics that the platform has for each probe. It lies in tables of its own: so it is
-- in no list, no count, no total and no rule.
CREATE TABLE agent_metrics (
    probe_id    uuid PRIMARY KEY REFERENCES probes ON DELETE CASCADE,
    offline     text CHECK (offline IN ('stopped', 'lost', 'blind')),   -- null: online
    changed_at  timestamptz NOT NULL,
    sampled_at  timestamptz,
    counters    bigint[] NOT NULL DEFAULT '{}'              -- started, skipped, dropped at that moment
);

-- What is gone for an hour by now is no news to anybody.
INSERT INTO agent_metrics (probe_id, offline, changed_at)
SELECT probe_id, 'lost', coalesce(ended_at, seen_at) FROM probes
WHERE session IS NOT NULL AND revoked_at IS NULL AND coalesce(ended_at, seen_at) < now() - interval '1 hour';

-- Who was told that a probe is offline, and is to be told when it is back.
CREATE TABLE probe_notices (
    team_id     int NOT NULL REFERENCES teams,
    probe_id    uuid NOT NULL REFERENCES probes ON DELETE CASCADE,
    told_at     timestamptz NOT NULL,
    PRIMARY KEY (team_id, probe_id)
);

CREATE TABLE agent_metrics_hour (
    probe_id      uuid NOT NULL REFERENCES probes ON DELETE CASCADE,
    at            timestamptz NOT NULL,                     -- where the hour begins, UTC
    samples       int NOT NULL,
    blind         int NOT NULL,                             -- samples in which it saw nothing
    started       bigint NOT NULL,                          -- checks within the hour
    skipped       bigint NOT NULL,
    dropped       bigint NOT NULL,                          -- results lost in its spool
    running       bigint NOT NULL,                          -- this and what follows: the most at a time
    late_us       bigint NOT NULL,
    spool_bytes   bigint NOT NULL,
    spool_batches bigint NOT NULL,
    rss_bytes     bigint NOT NULL,
    skew_ms_min   bigint NOT NULL,
    skew_ms_max   bigint NOT NULL,
    PRIMARY KEY (probe_id, at)
);
CREATE INDEX agent_metrics_hour_age ON agent_metrics_hour (at);
