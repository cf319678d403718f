-- What a removed user did stays in the logs, without a name: "removed user 3" of the team.

ALTER TABLE teams ADD removed_users int NOT NULL DEFAULT 0;

-- A log may lose who it names, and nothing else.
CREATE FUNCTION refuse_all_but_removal() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before jsonb := to_jsonb(OLD);
    after jsonb := to_jsonb(NEW);
    changed text;
    label text := substring(after ->> 'details' FROM 'removed user [0-9]+');
BEGIN
    FOR changed IN SELECT key FROM jsonb_each(before) WHERE after -> key IS DISTINCT FROM before -> key LOOP
        CONTINUE WHEN changed = 'address' AND after -> changed = 'null';
        CONTINUE WHEN changed IN ('actor', 'actor_name', 'resource_name')
            AND after ->> changed ~ '^removed user [0-9]+$';
        -- What stood before and after the name stays.
        CONTINUE WHEN changed = 'details'
            AND starts_with(before ->> changed, split_part(after ->> changed, label, 1))
            AND starts_with(reverse(before ->> changed), reverse(split_part(after ->> changed, label, 2)));
        RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
    END LOOP;
    RETURN NEW;
END $$;

DROP TRIGGER timeline_append_only ON timeline;
CREATE TRIGGER timeline_kept BEFORE DELETE ON timeline FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER timeline_unchanged BEFORE UPDATE ON timeline
    FOR EACH ROW EXECUTE FUNCTION refuse_all_but_removal();
DROP TRIGGER audit_log_unchanged ON audit_log;
CREATE TRIGGER audit_log_unchanged BEFORE UPDATE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION refuse_all_but_removal();
