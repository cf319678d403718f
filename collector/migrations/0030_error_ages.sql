-- When a collector last used a text of errors: what no result can name any more goes.

ALTER TABLE errors ADD COLUMN seen_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX errors_age ON errors (seen_at);
