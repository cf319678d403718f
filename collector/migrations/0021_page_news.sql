-- What subscribers of status pages are told: the links in their mails, webhooks, and what is on its way to them.

ALTER TABLE status_subscribers
    ALTER COLUMN email DROP NOT NULL,                       -- null: is told through a webhook
    ADD COLUMN sealed_hook bytea,                           -- its URL and signing secret, sealed
    ADD COLUMN asked_at  timestamptz,                       -- when the last mail that asks to confirm was queued
    ADD COLUMN language  text NOT NULL DEFAULT 'en',       -- of the mails
    ADD COLUMN by_form   boolean NOT NULL DEFAULT false,    -- subscribed on the page: goes if it is not confirmed
    ADD COLUMN link_key  bytea NOT NULL                     -- signs the links in the mails
        DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
    ADD CHECK ((email IS NULL) <> (sealed_hook IS NULL));
ALTER TABLE status_subscribers ALTER COLUMN link_key DROP DEFAULT;
CREATE INDEX status_subscribers_page ON status_subscribers (team_id, page_id, id);
-- A link in a mail names nothing but the subscriber.
CREATE INDEX status_subscribers_id ON status_subscribers (id);
CREATE INDEX status_subscribers_unconfirmed ON status_subscribers (team_id, page_id, asked_at)
    WHERE by_form AND verified_at IS NULL;

-- A row for each update; letters are made from it a few at a time, in the order of the subscribers.
CREATE TABLE status_news (
    team_id       int NOT NULL,
    id            uuid NOT NULL,
    page_id       uuid NOT NULL,
    update_id     uuid NOT NULL,
    occasion      text NOT NULL,
    topic         text NOT NULL CHECK (topic IN ('incidents', 'maintenance')),
    components    uuid[] NOT NULL,                          -- what it is about; empty: the whole page
    reached       uuid,                                     -- the last subscriber for whom there is a letter
    spread_at     timestamptz,                              -- when there was one for everybody
    created_at    timestamptz NOT NULL,
    PRIMARY KEY (team_id, id),
    FOREIGN KEY (team_id, page_id) REFERENCES status_pages ON DELETE CASCADE,
    FOREIGN KEY (team_id, update_id) REFERENCES status_updates ON DELETE CASCADE
);
CREATE INDEX status_news_waiting ON status_news (team_id, page_id, id) WHERE spread_at IS NULL;
CREATE INDEX status_news_update ON status_news (team_id, update_id);

-- One for each who is to be told, until it arrived; due_at is the end of its lease while it is under way.
CREATE TABLE status_letters (
    team_id       int NOT NULL,
    id            uuid NOT NULL,
    subscriber_id uuid NOT NULL,
    news_id       uuid,                                     -- null: about the subscription itself
    via           text NOT NULL CHECK (via IN ('mail', 'webhook')),
    attempt       smallint NOT NULL DEFAULT 0,
    due_at        timestamptz NOT NULL,
    created_at    timestamptz NOT NULL,
    PRIMARY KEY (team_id, id),
    UNIQUE (team_id, news_id, subscriber_id),
    FOREIGN KEY (team_id, news_id) REFERENCES status_news ON DELETE CASCADE,
    FOREIGN KEY (team_id, subscriber_id) REFERENCES status_subscribers ON DELETE CASCADE
);
CREATE INDEX status_letters_due ON status_letters (via, (news_id IS NOT NULL), due_at);
CREATE INDEX status_letters_subscriber ON status_letters (team_id, subscriber_id, news_id);

-- Maintenance begins and ends by itself.
CREATE INDEX status_incidents_planned ON status_incidents (scheduled_start)
    WHERE severity = 'maintenance' AND resolved_at IS NULL;
