"""Does a MySQL or MariaDB server take connections?"""

from dataclasses import dataclass

from shared.kinds.fields import HostName, Password, Port, Username, login_faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Mysql:
    """Without a *username* a server that refuses a stranger is up."""

    host: HostName
    port: Port = 3306
    tls: bool = False
    verify_tls: bool = True
    username: Username = ""
    password: Password = ""

    def faults(self) -> dict[str, str]:
        return login_faults(self.username, self.password)
