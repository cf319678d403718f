-- Channels of every type: whom a delivery has reached, what was odd about a try, and which channels fail.

ALTER TABLE deliveries ADD COLUMN reached text NOT NULL DEFAULT '';  -- addressees, one a line
ALTER TABLE delivery_attempts ADD COLUMN note text;

-- A row for each channel that fails: since when, since when the team's others know, and whether it works again.
CREATE TABLE channel_faults (
    team_id        int NOT NULL,
    channel_id     uuid NOT NULL,
    failing_since  timestamptz NOT NULL,
    last_error     text NOT NULL,
    flagged_at     timestamptz,
    works_since    timestamptz,
    PRIMARY KEY (team_id, channel_id),
    FOREIGN KEY (team_id, channel_id) REFERENCES channels (team_id, id) ON DELETE CASCADE
);
