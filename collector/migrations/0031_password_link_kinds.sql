-- Links by which people set a password know what they are for; several mailed ones may be open at once.

ALTER TABLE users ADD COLUMN signed_in_at timestamptz;      -- the first time, in whichever way
UPDATE users SET signed_in_at = now() WHERE password IS NOT NULL;

ALTER TABLE password_links ADD COLUMN kind text NOT NULL DEFAULT 'reset' CHECK (kind IN ('first', 'reset'));
UPDATE password_links SET kind = 'first' WHERE until - sent_at > interval '2 days';
DELETE FROM password_links l USING users u
WHERE l.kind = 'first' AND u.team_id = l.team_id AND u.id = l.user_id AND u.password IS NOT NULL;
ALTER TABLE password_links DROP CONSTRAINT password_links_pkey, ADD PRIMARY KEY (team_id, user_id, hash);
