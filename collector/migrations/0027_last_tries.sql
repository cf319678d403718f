-- A try that is under way when its monitor is deleted is the last one of its delivery.

ALTER TABLE deliveries ADD COLUMN last boolean NOT NULL DEFAULT false;
