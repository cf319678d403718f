-- Teams whose members need a second factor, and sessions that the sign-in provider vouched for, which ask for none.

ALTER TABLE teams ADD COLUMN two_factor_required boolean NOT NULL DEFAULT false;
ALTER TABLE console_sessions ADD COLUMN by_provider boolean NOT NULL DEFAULT false;
