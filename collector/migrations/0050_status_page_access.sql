-- How visitors enter a private status page besides its password: from networks, or by a sign-in provider.

CREATE TABLE status_page_access (
    team_id integer NOT NULL,
    page_id uuid NOT NULL,
    networks text[] NOT NULL,
    issuer text,
    client_id text,
    sealed_secret bytea,
    email_domains text[] NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (team_id, page_id),
    FOREIGN KEY (team_id, page_id) REFERENCES status_pages (team_id, id) ON DELETE CASCADE
);
