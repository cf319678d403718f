-- What the failed checks saw that an incident stands on.

-- Of the last ones of each monitor and location, for as long as they may yet confirm an outage.
CREATE TABLE failures (
    monitor     int NOT NULL,
    location    smallint NOT NULL,
    newest      jsonb[] NOT NULL,                           -- newest first: {at, saw}
    at          timestamptz(3) NOT NULL,                    -- of the last of them
    PRIMARY KEY (monitor, location)
) WITH (fillfactor = 70);
CREATE INDEX failures_age ON failures (at);

-- Kept with the incident when the results go, and the monitor.
CREATE TABLE incident_evidence (
    team_id     int NOT NULL,
    incident_id uuid NOT NULL,
    location    text NOT NULL,
    at          timestamptz(3) NOT NULL,                    -- start of the check
    saw         jsonb NOT NULL,
    PRIMARY KEY (team_id, incident_id, location, at),
    FOREIGN KEY (team_id, incident_id) REFERENCES incidents (team_id, id)
);
