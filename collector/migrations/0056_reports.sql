-- Reports of uptime: what is asked for, the editions that were computed, and the mails that carry them.

CREATE TABLE reports (
    team_id         int NOT NULL REFERENCES teams,
    id              uuid NOT NULL,
    name            text NOT NULL,
    status_page_id  uuid,                                   -- the monitors of its components; null: those below
    monitors        uuid[] NOT NULL,
    tags            jsonb NOT NULL,                         -- as those of maintenance windows; nothing: all
    period          text NOT NULL,
    first_day       date,                                   -- of a custom period, by the zone's calendar
    last_day        date,
    timezone        text NOT NULL,
    send_hour       smallint NOT NULL,                      -- by the zone's clock, on the day after the period
    business_hours  text,
    target          float8,
    recipients      text[] NOT NULL,
    enabled         boolean NOT NULL,
    next_day        date,                                   -- first of the period that is computed next
    due_at          timestamptz,                            -- when it is; null: never by itself
    revision        int NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (team_id, id)
);
CREATE INDEX reports_due ON reports (due_at) WHERE due_at IS NOT NULL;

-- The numbers of an edition never change: late results make another one.
CREATE TABLE report_editions (
    team_id         int NOT NULL,
    report_id       uuid NOT NULL,
    id              uuid NOT NULL,
    number          int NOT NULL,                           -- of the period's editions, from 1
    first_day       date NOT NULL,
    last_day        date NOT NULL,
    since           timestamptz NOT NULL,                   -- the same by the zone's calendar
    until           timestamptz NOT NULL,
    requested_at    timestamptz NOT NULL,
    work_at         timestamptz,                            -- when it is computed, or checked for late results
    tries           smallint NOT NULL DEFAULT 0,            -- that began and did not end
    computed_at     timestamptz,
    content         jsonb,
    mailed          boolean NOT NULL,                       -- whether recipients get it
    PRIMARY KEY (team_id, id),
    UNIQUE (team_id, report_id, since, until, number),
    FOREIGN KEY (team_id, report_id) REFERENCES reports ON DELETE CASCADE
);
CREATE INDEX report_editions_work ON report_editions (work_at) WHERE work_at IS NOT NULL;

-- One for each edition and address, however often it is tried.
CREATE TABLE report_mails (
    team_id         int NOT NULL,
    edition_id      uuid NOT NULL,
    address         text NOT NULL,
    due_at          timestamptz,                            -- null: it is sent, or given up
    tries           smallint NOT NULL DEFAULT 0,
    sent_at         timestamptz,
    error           text,
    PRIMARY KEY (team_id, edition_id, address),
    FOREIGN KEY (team_id, edition_id) REFERENCES report_editions ON DELETE CASCADE
);
CREATE INDEX report_mails_due ON report_mails (due_at) WHERE due_at IS NOT NULL;
