-- How often each job may ping, by one clock for all collectors: until *paced_at* its pings are paid for.

ALTER TABLE heartbeats ADD COLUMN paced_at timestamptz NOT NULL DEFAULT 'epoch';
