-- Links by which a screen on a wall shows a team's state; the hash alone is kept, as of every secret.

CREATE TABLE wall_links (
    team_id     int NOT NULL REFERENCES teams,
    id          uuid NOT NULL,
    name        text NOT NULL,
    hash        bytea NOT NULL,                             -- SHA-256 of the link's secret
    created_by  text NOT NULL,
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz,                                -- null: never
    seen_at     timestamptz,                                -- when a screen last asked, about a minute at most ago
    PRIMARY KEY (team_id, id)
);

CREATE INDEX wall_links_hash ON wall_links (hash);
