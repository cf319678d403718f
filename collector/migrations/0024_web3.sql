-- What checks of chains found: thresholds that are crossed, and logs; and what of it was told.

CREATE TABLE web3_alerts (
    team_id      int NOT NULL,
    monitor_id   uuid NOT NULL,
    key          text NOT NULL,                             -- the alert's type: high_gas, ...
    locations    smallint[] NOT NULL,                       -- that hold the threshold crossed; none: it is over
    raised_at    timestamptz NOT NULL,                      -- when the first check that saw it began
    data         jsonb NOT NULL,                            -- what that check said
    recovery     jsonb,                                     -- what the last location said that let go
    told_at      timestamptz,                               -- that it is crossed
    PRIMARY KEY (team_id, monitor_id, key),
    FOREIGN KEY (team_id, monitor_id) REFERENCES monitors (team_id, id) ON DELETE CASCADE
);
CREATE INDEX web3_alerts_waiting ON web3_alerts (team_id, monitor_id) WHERE told_at IS NULL OR locations = '{}';

CREATE TABLE web3_logs (
    team_id      int NOT NULL,
    monitor_id   uuid NOT NULL,
    key          text NOT NULL,                             -- 0xTRANSACTION:INDEX
    block        bigint NOT NULL,
    log_index    int,                                       -- null: a transfer of the chain's own coin
    block_hash   text NOT NULL,
    found_at     timestamptz(3) NOT NULL,                   -- when the check began, as in its result
    location     smallint NOT NULL,
    said_at      timestamptz(3) NOT NULL,                   -- when the check began that spoke of it last
    data         jsonb NOT NULL,
    waits        boolean NOT NULL DEFAULT true,             -- something of it is not decided yet
    told_at      timestamptz,                               -- that it happened; null once it was taken back
    removed_at   timestamptz,                               -- it is no part of the chain any more
    removed_by   smallint,                                  -- the location that said so
    PRIMARY KEY (team_id, monitor_id, key),
    FOREIGN KEY (team_id, monitor_id) REFERENCES monitors (team_id, id) ON DELETE CASCADE
);
CREATE INDEX web3_logs_waiting ON web3_logs (team_id, monitor_id, block, log_index)
    WHERE waits AND removed_at IS NULL;
CREATE INDEX web3_logs_taken_back ON web3_logs (team_id, monitor_id, block, log_index)
    WHERE waits AND removed_at IS NOT NULL;
CREATE INDEX web3_logs_block ON web3_logs (team_id, monitor_id, block);
CREATE INDEX web3_logs_found ON web3_logs (team_id, monitor_id, found_at);
CREATE INDEX web3_logs_told ON web3_logs (team_id, monitor_id, told_at) WHERE told_at IS NOT NULL;
CREATE INDEX web3_logs_age ON web3_logs (found_at);
