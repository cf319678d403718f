-- Components that alone make an outage a major one, and components that show no uptime.

ALTER TABLE status_components
    ADD COLUMN essential boolean NOT NULL DEFAULT false,
    ADD COLUMN show_uptime boolean NOT NULL DEFAULT true;
