-- Whether a page's domain is proved to be its team's; an address alone says at which page a domain answers.

ALTER TABLE status_pages
    ADD domain_since        timestamptz,                    -- since when the page asks for this domain
    ADD domain_checked_at   timestamptz,                    -- when a proof was looked for last
    ADD domain_proved_at    timestamptz;                    -- null: no proof was found yet
UPDATE status_pages SET domain_since = updated_at WHERE domain IS NOT NULL;
CREATE INDEX status_pages_unproved ON status_pages (domain_checked_at NULLS FIRST)
    WHERE domain IS NOT NULL AND domain_proved_at IS NULL;
