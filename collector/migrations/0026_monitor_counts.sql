-- How many monitors each team has, held to what its plan allows. As its mark, the count is written at the
-- commit's very end, so that nobody who makes monitors waits for another's work.

LOCK TABLE monitors IN SHARE ROW EXCLUSIVE MODE;

CREATE TABLE monitor_counts (
    team_id     int PRIMARY KEY REFERENCES teams,
    monitors    int NOT NULL
);
INSERT INTO monitor_counts (team_id, monitors) SELECT team_id, count(*) FROM monitors GROUP BY team_id;

-- What a statement adds is added up in the transaction, however many rows and statements it has.
CREATE FUNCTION add_up_monitors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config(name, (coalesce(nullif(current_setting(name, true), '')::int, 0)
        + CASE TG_OP WHEN 'INSERT' THEN rows ELSE -rows END)::text, true)
    FROM (SELECT 'tocsin.monitors_' || team_id AS name, count(*) AS rows FROM changed GROUP BY team_id) sums;
    RETURN NULL;
END $$;
CREATE TRIGGER monitors_made AFTER INSERT ON monitors REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION add_up_monitors();
CREATE TRIGGER monitors_deleted AFTER DELETE ON monitors REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION add_up_monitors();

-- The first of a transaction's rows counts them all. The limit is that of who makes monitors, if they have one.
CREATE FUNCTION count_monitors() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    team int := coalesce(NEW.team_id, OLD.team_id);
    added int := nullif(current_setting('tocsin.monitors_' || team, true), '')::int;
    most int := nullif(current_setting('tocsin.most_monitors', true), '')::int;
    counted int;
BEGIN
    IF coalesce(added, 0) = 0 THEN
        RETURN NULL;
    END IF;
    PERFORM set_config('tocsin.monitors_' || team, '0', true);
    INSERT INTO monitor_counts AS c (team_id, monitors) VALUES (team, added)
    ON CONFLICT (team_id) DO UPDATE SET monitors = c.monitors + excluded.monitors
    RETURNING monitors INTO counted;
    IF added > 0 AND counted > most THEN
        RAISE EXCEPTION 'The team''s plan allows % monitors at most', most USING ERRCODE = 'TC409';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER monitors_counted AFTER INSERT OR DELETE ON monitors
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_monitors();
