-- Reminders of a status page's maintenance ahead of its start.

ALTER TABLE status_incidents
    ADD COLUMN reminder_minutes int CHECK (reminder_minutes > 0),   -- before its start; null: none
    ADD COLUMN reminded_at      timestamptz;                        -- when subscribers were reminded of this start
