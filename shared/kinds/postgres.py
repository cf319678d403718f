"""Does a PostgreSQL server take connections?"""

from dataclasses import dataclass

from shared.kinds.fields import HostName, Password, Port, Username, login_faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Postgres:
    """Without a *username*, a server that requires one is up; *database*: by default named like the user."""

    host: HostName
    """Host name or IP address that is checked."""
    port: Port = 5432
    """TCP port of the server."""
    tls: bool = False
    """Whether the connection is encrypted with TLS from its first byte."""
    verify_tls: bool = True
    """Whether the server's certificate must be valid for its name."""
    username: Username = ""
    """Account to log in with; empty: a server that asks for one is up."""
    password: Password = ""
    """Password of the account. A secret: masked for read-only tokens."""
    database: Username = ""
    """Database to open; empty: the one named like the account."""

    def faults(self) -> dict[str, str]:
        return login_faults(self.username, self.password)
