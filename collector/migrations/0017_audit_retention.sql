-- The audit log is kept for three years. What is older may be deleted; nothing in it is ever changed.

DROP TRIGGER audit_log_append_only ON audit_log;
CREATE TRIGGER audit_log_unchanged BEFORE UPDATE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_kept BEFORE DELETE ON audit_log
    FOR EACH ROW WHEN (OLD.at > now() - interval '1095 days') EXECUTE FUNCTION refuse_change();
CREATE INDEX audit_log_oldest ON audit_log (at);
