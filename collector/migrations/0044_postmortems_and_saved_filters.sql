-- Post-mortems that people wrote, and filters of the list of monitors that a user saved.

CREATE TABLE postmortems (
    team_id      int NOT NULL,
    incident_id  uuid NOT NULL,
    text         text NOT NULL,                             -- Markdown; without a row it is a draft
    revision     int NOT NULL DEFAULT 1,                    -- rises with each change, so that none is lost
    updated_by   text NOT NULL,
    updated_at   timestamptz NOT NULL,
    PRIMARY KEY (team_id, incident_id),
    FOREIGN KEY (team_id, incident_id) REFERENCES incidents (team_id, id) ON DELETE CASCADE
);

CREATE TABLE saved_filters (
    team_id  int NOT NULL,
    user_id  uuid NOT NULL,
    name     text NOT NULL,
    query    text NOT NULL,                                 -- of the list's address
    PRIMARY KEY (team_id, user_id, name),
    FOREIGN KEY (team_id, user_id) REFERENCES users (team_id, id) ON DELETE CASCADE
);
