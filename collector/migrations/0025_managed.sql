-- What `tocsin apply` made or took over: which thing of a team stands behind which key of its files.

CREATE TABLE managed (
    team_id   int NOT NULL REFERENCES teams (team_id),
    section   text NOT NULL,                             -- monitors, channels, ...
    key       text NOT NULL,
    id        uuid NOT NULL,                             -- may be gone since
    PRIMARY KEY (team_id, section, key),
    UNIQUE (team_id, section, id)
);
