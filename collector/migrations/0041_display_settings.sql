-- How the console shows its pages to a user: time zone, clock, theme, density.

ALTER TABLE users ADD COLUMN display jsonb NOT NULL DEFAULT '{}';
