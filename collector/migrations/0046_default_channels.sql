-- Channels that are chosen for a new monitor unless somebody chooses others.

ALTER TABLE channels ADD COLUMN for_new_monitors boolean NOT NULL DEFAULT false;
