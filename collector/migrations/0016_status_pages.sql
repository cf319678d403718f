-- Status pages: what is told to the public, and who is told by mail.

CREATE TABLE status_pages (
    team_id       int NOT NULL REFERENCES teams,
    id            uuid NOT NULL,
    name          text NOT NULL,
    slug          text NOT NULL,
    domain        text,                                     -- of its own, in small letters
    visibility    text NOT NULL CHECK (visibility IN ('public', 'private', 'unlisted')),
    password      text,                                     -- as core/passwords.py keeps it
    branding      jsonb NOT NULL,
    revision      int NOT NULL DEFAULT 1,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    PRIMARY KEY (team_id, id)
);
CREATE INDEX status_pages_newest ON status_pages (team_id, created_at DESC, id DESC);

-- By what a visitor finds a page: no two of the deployment have the same.
CREATE TABLE status_page_addresses (
    kind          text NOT NULL CHECK (kind IN ('slug', 'domain')),
    address       text NOT NULL,
    team_id       int NOT NULL,
    page_id       uuid NOT NULL,
    PRIMARY KEY (kind, address),
    FOREIGN KEY (team_id, page_id) REFERENCES status_pages ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX status_page_addresses_page ON status_page_addresses (team_id, page_id);

CREATE TABLE status_components (
    team_id       int NOT NULL,
    id            uuid NOT NULL,
    page_id       uuid NOT NULL,
    name          text NOT NULL,
    description   text NOT NULL,
    group_name    text,
    monitor_id    uuid,
    position      int NOT NULL,
    held          text,                                     -- a status set by hand; null: its monitor's
    message       text NOT NULL,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    PRIMARY KEY (team_id, id),
    FOREIGN KEY (team_id, page_id) REFERENCES status_pages ON DELETE CASCADE,
    FOREIGN KEY (team_id, monitor_id) REFERENCES monitors (team_id, id) ON DELETE SET NULL (monitor_id)
);
CREATE INDEX status_components_page ON status_components (team_id, page_id, position, id);
CREATE INDEX status_components_monitor ON status_components (team_id, monitor_id)
    WHERE monitor_id IS NOT NULL;

CREATE TABLE status_incidents (
    team_id           int NOT NULL,
    id                uuid NOT NULL,
    page_id           uuid NOT NULL,
    title             text NOT NULL,
    status            text NOT NULL
        CHECK (status IN ('investigating', 'identified', 'monitoring', 'resolved')),
    severity          text NOT NULL
        CHECK (severity IN ('none', 'minor', 'major', 'critical', 'maintenance')),
    components        uuid[] NOT NULL,
    component_status  text,                                 -- in which it holds them while it is open
    scheduled_start   timestamptz,
    scheduled_end     timestamptz,
    published_at      timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    resolved_at       timestamptz,
    PRIMARY KEY (team_id, id),
    FOREIGN KEY (team_id, page_id) REFERENCES status_pages ON DELETE CASCADE
);
CREATE INDEX status_incidents_newest ON status_incidents (team_id, page_id, published_at DESC, id DESC);

-- Rows are only added.
CREATE TABLE status_updates (
    team_id       int NOT NULL,
    id            uuid NOT NULL,
    incident_id   uuid NOT NULL,
    status        text NOT NULL,
    message       text NOT NULL,
    at            timestamptz NOT NULL,
    PRIMARY KEY (team_id, id),
    FOREIGN KEY (team_id, incident_id) REFERENCES status_incidents ON DELETE CASCADE
);
CREATE INDEX status_updates_incident ON status_updates (team_id, incident_id, at, id);

CREATE TABLE status_subscribers (
    team_id       int NOT NULL,
    id            uuid NOT NULL,
    page_id       uuid NOT NULL,
    email         text NOT NULL,                            -- in small letters
    preferences   jsonb NOT NULL,
    components    uuid[] NOT NULL,                          -- empty: all of the page's
    verified_at   timestamptz,
    subscribed_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, id),
    UNIQUE (team_id, page_id, email),
    FOREIGN KEY (team_id, page_id) REFERENCES status_pages ON DELETE CASCADE
);
CREATE INDEX status_subscribers_newest
    ON status_subscribers (team_id, page_id, subscribed_at DESC, id DESC);
