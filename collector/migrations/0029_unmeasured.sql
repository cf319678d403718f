-- Since when no check of a monitor measures anything, as its channels were told; null while something does.
ALTER TABLE monitors ADD COLUMN unmeasured_since timestamptz;

CREATE INDEX monitors_unmeasured ON monitors (monitor) WHERE unmeasured_since IS NOT NULL;
