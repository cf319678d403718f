-- A team's events have one order, in which they are committed: who follows them misses none.

CREATE TABLE event_positions (
    team_id     int PRIMARY KEY REFERENCES teams,
    last        bigint NOT NULL
);

ALTER TABLE events ADD COLUMN position bigint;
UPDATE events e SET position = o.position
FROM (
    SELECT team_id, stream_id, sequence, row_number() OVER (PARTITION BY team_id ORDER BY created_at, id) AS position
    FROM events
) o
WHERE e.team_id = o.team_id AND e.stream_id = o.stream_id AND e.sequence = o.sequence;
ALTER TABLE events ALTER COLUMN position SET NOT NULL;
CREATE UNIQUE INDEX events_position ON events (team_id, position);
CREATE INDEX events_id ON events (team_id, id);

INSERT INTO event_positions SELECT team_id, max(position) FROM events GROUP BY team_id;
