-- By which set of files each key is declared: what one set declares no more is no other set's to delete.

ALTER TABLE managed
    ADD set_name text NOT NULL DEFAULT 'default',
    DROP CONSTRAINT managed_pkey,
    ADD PRIMARY KEY (team_id, set_name, section, key);
