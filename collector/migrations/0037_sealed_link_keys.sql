-- The keys of the links in mails to subscribers: whoever reads the database can make no link with them.

ALTER TABLE status_subscribers
    ADD COLUMN sealed_link_key bytea,                      -- signs the links in the mails, sealed
    ALTER COLUMN link_key DROP NOT NULL,                   -- the same, until it is sealed
    ADD CHECK (num_nonnulls(link_key, sealed_link_key) = 1);
CREATE INDEX status_subscribers_unsealed ON status_subscribers (team_id, id) WHERE link_key IS NOT NULL;
