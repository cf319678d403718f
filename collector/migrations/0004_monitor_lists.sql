-- Lists of monitors that take no longer the more there are.

CREATE INDEX monitors_type ON monitors (team_id, type, created_at DESC, id DESC);
CREATE INDEX monitors_group ON monitors (team_id, group_name, created_at DESC, id DESC)
    WHERE group_name IS NOT NULL;
CREATE INDEX monitors_tags ON monitors USING gin (tags);
CREATE INDEX monitors_paused ON monitors (team_id, created_at DESC, id DESC) WHERE paused_at IS NOT NULL;
CREATE INDEX monitors_down ON monitors (team_id, created_at DESC, id DESC) WHERE down AND paused_at IS NULL;

-- What a team's totals were counted at: another value after each transaction that changed what a filter asks
-- for. Written at the commit's very end, so that nobody who changes monitors waits for another's work.
CREATE TABLE monitor_marks (
    team_id     int PRIMARY KEY REFERENCES teams,
    mark        bigint NOT NULL
);

CREATE FUNCTION mark_monitors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO monitor_marks AS k (team_id, mark)
    VALUES (coalesce(NEW.team_id, OLD.team_id), pg_current_xact_id()::text::bigint)
    ON CONFLICT (team_id) DO UPDATE SET mark = excluded.mark WHERE k.mark <> excluded.mark;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER monitors_come_and_go AFTER INSERT OR DELETE ON monitors
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mark_monitors();
CREATE CONSTRAINT TRIGGER monitors_move AFTER UPDATE OF type, group_name, tags ON monitors
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN ((OLD.type, OLD.group_name, OLD.tags) IS DISTINCT FROM (NEW.type, NEW.group_name, NEW.tags))
    EXECUTE FUNCTION mark_monitors();
