"""Does a Redis server answer?"""

from dataclasses import dataclass

from shared.kinds.fields import HostName, Password, Port, Username


@dataclass(frozen=True, slots=True, kw_only=True)
class Redis:
    """Without a *password* a server that asks for one is up; *username* is for those with several."""

    host: HostName
    port: Port = 6379
    tls: bool = False
    verify_tls: bool = True
    username: Username = ""
    password: Password = ""

    def faults(self) -> dict[str, str]:
        """Redis knows no user without a password."""
        return {"password": "Password is required"} if self.username and not self.password else {}
