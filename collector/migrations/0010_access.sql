-- People: passwords and invitations. Tokens: how one is told from another. And the audit log.

ALTER TABLE users
    ADD password      text,                                 -- scrypt, as core/passwords.py writes it
    ADD invitation    bytea,                                -- SHA-256 of the link's secret; null once it was used
    ADD invited_until timestamptz;
CREATE INDEX users_invitation ON users (invitation) WHERE invitation IS NOT NULL;

ALTER TABLE tokens ADD hint text NOT NULL DEFAULT '';       -- the first characters of one that we made
CREATE INDEX tokens_user ON tokens (team_id, user_id);

-- Team 0 is the deployment itself: what the operator does to what belongs to no team.
CREATE TABLE audit_log (
    team_id        int NOT NULL,
    id             uuid NOT NULL,
    at             timestamptz NOT NULL,
    actor_kind     text NOT NULL CHECK (actor_kind IN ('user', 'operator', 'system')),
    actor_id       text,
    actor_name     text NOT NULL,
    token_id       uuid,
    address        text,
    request_id     text,
    action         text NOT NULL,
    resource       text NOT NULL,
    resource_id    text NOT NULL,
    resource_name  text NOT NULL,
    fields         text[] NOT NULL,
    PRIMARY KEY (team_id, id)
);
CREATE INDEX audit_log_newest ON audit_log (team_id, at DESC, id DESC);
CREATE INDEX audit_log_resource ON audit_log (team_id, resource_id, at DESC);
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_append_only_whole BEFORE TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
