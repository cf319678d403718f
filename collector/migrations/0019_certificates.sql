-- Certificates that come near their end: what checks said of them, and which of it was told.

CREATE TABLE certificate_warnings (
    team_id      int NOT NULL,
    monitor_id   uuid NOT NULL,
    ends_at      timestamptz NOT NULL,
    expiry_days  int NOT NULL,                              -- fewer than these are left
    found_at     timestamptz NOT NULL,
    told_at      timestamptz,
    PRIMARY KEY (team_id, monitor_id, ends_at, expiry_days),
    FOREIGN KEY (team_id, monitor_id) REFERENCES monitors (team_id, id) ON DELETE CASCADE
);
CREATE INDEX certificate_warnings_untold ON certificate_warnings (team_id, monitor_id) WHERE told_at IS NULL;
CREATE INDEX certificate_warnings_end ON certificate_warnings (ends_at);
