"""Does a Redis server answer?"""

from dataclasses import dataclass

from shared.kinds.fields import HostName, Password, Port, Username


@dataclass(frozen=True, slots=True, kw_only=True)
class Redis:
    """Without a *password*, a server that requires one is up; *username*: for servers with several."""

    host: HostName
    """Host name or IP address that is checked."""
    port: Port = 6379
    """TCP port of the server."""
    tls: bool = False
    """Whether the connection is encrypted with TLS from its first byte."""
    verify_tls: bool = True
    """Whether the server's certificate must be valid for its name."""
    username: Username = ""
    """Account of a server that has several; empty: the default one."""
    password: Password = ""
    """Password; empty: a server that asks for one is up. A secret: masked for read-only tokens."""

    def faults(self) -> dict[str, str]:
        """Redis has no user without a password."""
        return {"password": "Password is required"} if self.username and not self.password else {}
