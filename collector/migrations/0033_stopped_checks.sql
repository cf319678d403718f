-- Checks in which a probe stood still until it was ended.

-- The revision of the monitor in which that was; no probe runs it again.
ALTER TABLE monitors ADD COLUMN stopped_revision int;
