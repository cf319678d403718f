"""Does an IMAP server greet, and let one in?"""

from dataclasses import dataclass

from shared.kinds.fields import HostName, Password, Port, Security, Username, login_faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Imap:
    """*port* is 143, or 993 if *security* is tls. It logs in only if there is a *username*."""

    host: HostName
    """Host name or IP address that is checked."""
    port: Port | None = None
    """TCP port of the server; by default 143, or 993 with `tls`."""
    security: Security = "none"
    """Encryption: `none`, `starttls` (upgraded after the greeting) or `tls` (from the first byte)."""
    verify_tls: bool = True
    """Whether the server's certificate must be valid for its name."""
    username: Username = ""
    """Account to log in with; empty: the check does not log in."""
    password: Password = ""
    """Password of the account. A secret: masked for read-only tokens."""

    def faults(self) -> dict[str, str]:
        return login_faults(self.username, self.password)
