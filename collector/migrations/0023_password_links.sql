-- Links by which somebody who is in a team already sets a password; one at a time for each.

CREATE TABLE password_links (
    team_id     int NOT NULL,
    user_id     uuid NOT NULL,
    hash        bytea NOT NULL,                             -- SHA-256 of the link's secret
    until       timestamptz NOT NULL,
    sent_at     timestamptz NOT NULL,
    PRIMARY KEY (team_id, user_id),
    FOREIGN KEY (team_id, user_id) REFERENCES users (team_id, id) ON DELETE CASCADE
);
CREATE INDEX password_links_hash ON password_links (hash);
