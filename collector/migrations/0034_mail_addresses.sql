-- Mail addresses outside a team that its channels name: whether they confirmed, where the operator asks for it.

CREATE TABLE mail_addresses (
    team_id         int NOT NULL REFERENCES teams,
    address         text NOT NULL,                          -- in small letters
    secret          bytea,                                  -- SHA-256 of that of the newest mail's link
    asked_at        timestamptz,                            -- when that mail was sent
    due_at          timestamptz,                            -- when one is to be sent; null: none is
    confirmed_at    timestamptz,
    PRIMARY KEY (team_id, address)
);
CREATE INDEX mail_addresses_due ON mail_addresses (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX mail_addresses_secret ON mail_addresses (secret);
