-- A mark may wait: a rule whose rate is of too few checks yet is judged again a moment later.
ALTER TABLE alert_marks ADD COLUMN due_at timestamptz;
