"""Does an IMAP server greet, and let one in?"""

from dataclasses import dataclass

from shared.kinds.fields import HostName, Password, Port, Security, Username, login_faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Imap:
    """*port* is 143, or 993 where *security* is tls. Only with a *username* does it log in."""

    host: HostName
    port: Port | None = None
    security: Security = "none"
    verify_tls: bool = True
    username: Username = ""
    password: Password = ""

    def faults(self) -> dict[str, str]:
        return login_faults(self.username, self.password)
