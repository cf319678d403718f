-- Incidents whose reminders and escalation wait until a time.

ALTER TABLE incidents ADD COLUMN snoozed_until timestamptz;
