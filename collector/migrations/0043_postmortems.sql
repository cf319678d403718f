-- Post-mortems that people wrote; until then a draft is made from what is known of the incident.

CREATE TABLE postmortems (
    team_id      int NOT NULL,
    incident_id  uuid NOT NULL,
    text         text NOT NULL,
    revision     int NOT NULL DEFAULT 1,                    -- rises with each change, so that none is lost
    updated_by   text NOT NULL,
    updated_at   timestamptz NOT NULL,
    PRIMARY KEY (team_id, incident_id),
    FOREIGN KEY (team_id, incident_id) REFERENCES incidents (team_id, id) ON DELETE CASCADE
);
