-- Maintenance windows that are under way, alerts by their age, and deliveries by channel as they fall due.

-- What was told of a window last: that it began, and that it is over. The row stays a while after that, for
-- collectors whose clocks differ.
CREATE TABLE maintenance_underway (
    team_id    int NOT NULL REFERENCES teams,
    window_id  uuid NOT NULL,
    shown      jsonb NOT NULL,                              -- the window as its beginning was told
    ends_at    timestamptz NOT NULL,                        -- of the spans that this tells of, so far
    over       boolean NOT NULL DEFAULT false,
    PRIMARY KEY (team_id, window_id)
);

-- Of a long queue of one channel only the next few are looked at.
CREATE INDEX deliveries_turn ON deliveries (team_id, channel_id, due_at) WHERE status = 0;

CREATE INDEX alerts_age ON alerts (recovered_at) WHERE status = 'recovered';
