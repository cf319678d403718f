"""Users, teams, tokens, console sessions and sign-in by password or OpenID Connect; the audit log."""
