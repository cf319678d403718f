-- Texts that a team keeps for incidents and maintenance on its status pages.

CREATE TABLE incident_templates (
    team_id          int NOT NULL REFERENCES teams,
    id               uuid NOT NULL,
    name             text NOT NULL,
    title            text NOT NULL,
    status           text NOT NULL,
    severity         text NOT NULL,
    component_status text,                                  -- null: components keep their own
    message          text NOT NULL,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    PRIMARY KEY (team_id, id)
);

CREATE UNIQUE INDEX incident_templates_name ON incident_templates (team_id, lower(name));
