"""Does a PostgreSQL server take connections?"""

from dataclasses import dataclass

from shared.kinds.fields import HostName, Password, Port, Username, login_faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Postgres:
    """Without a *username* a server that asks for one is up; *database*: the user's own if none is given."""

    host: HostName
    port: Port = 5432
    tls: bool = False
    verify_tls: bool = True
    username: Username = ""
    password: Password = ""
    database: Username = ""

    def faults(self) -> dict[str, str]:
        return login_faults(self.username, self.password)
