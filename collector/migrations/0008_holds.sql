-- What holds the news of a monitor back, and what is owed when the hold ends.

ALTER TABLE monitors
    ADD COLUMN owed             boolean NOT NULL DEFAULT false,  -- down was told, and is to be told anew
    ADD COLUMN unrecorded_until timestamptz,                     -- down without an incident: a window's end
    ADD COLUMN degraded_since   timestamptz,                     -- some locations fail, and not enough
    ADD COLUMN degraded_told    boolean NOT NULL DEFAULT false,
    ADD COLUMN flapping_since   timestamptz,
    ADD COLUMN flapping_told    boolean NOT NULL DEFAULT false,
    ADD COLUMN turned_at        timestamptz[] NOT NULL DEFAULT '{}';  -- the newest changes of *down*

DROP INDEX monitors_untold;
CREATE INDEX monitors_owed ON monitors (monitor)
    WHERE down <> told OR owed OR (degraded_since IS NOT NULL) <> degraded_told
        OR (flapping_since IS NOT NULL) <> flapping_told;
CREATE INDEX monitors_unsettled ON monitors (monitor)
    WHERE unrecorded_until IS NOT NULL OR degraded_since IS NOT NULL OR flapping_since IS NOT NULL;

-- The incident of a monitor that this one's depends on, which was open when this one began.
ALTER TABLE incidents ADD COLUMN parent_incident_id uuid;

-- When some collector ran: silence counts as silence only while somebody listened.
CREATE TABLE listening (
    collector  uuid PRIMARY KEY,                                 -- one start of one process
    since      timestamptz NOT NULL,
    until      timestamptz NOT NULL,
    CHECK (until >= since)
);
CREATE INDEX listening_until ON listening (until);
