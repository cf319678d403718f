"""Does an IMAP server greet, and let one in?"""

from typing import Final

from probe.checks._check import Check
from probe.checks._dialogue import dialogue, secure
from probe.net.endpoint import Endpoint
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.stream import Stream
from probe.net.tls import starttls
from shared.kinds.imap import Imap

_PORT: Final = 143
_TLS_PORT: Final = 993
_MOST_LINES: Final = 100


def prepare(kind: Imap) -> Check:
    tls = kind.security == "tls"
    port = kind.port or (_TLS_PORT if tls else _PORT)
    to = Endpoint.of(kind.host, port, tls=tls, verify=kind.verify_tls)

    async def talk(net: Net, stream: Stream) -> None:
        await starttls.imap_greeting(stream)
        if kind.security == "starttls":
            stream.phase = "starttls"
            await starttls.imap_command(stream, b"a1", b"STARTTLS")
            await secure(net, stream)
        if kind.username:
            await _log_in(stream, kind.username.encode(), kind.password.encode())
        stream.farewell(b"a3 LOGOUT\r\n")

    return dialogue(to, talk)


async def _log_in(stream: Stream, username: bytes, password: bytes) -> None:
    """Log in with literals, which may hold any bytes; responses, which may repeat them, are not shown."""
    stream.phase = "auth"
    await starttls.command(stream, b"a2 LOGIN {%d}" % len(username))
    await _answer(stream, b"+")
    await starttls.command(stream, username + b" {%d}" % len(password))
    await _answer(stream, b"+")
    await starttls.command(stream, password)
    await _answer(stream, b"a2 OK")


async def _answer(stream: Stream, wanted: bytes) -> None:
    for _ in range(_MOST_LINES):
        line = await stream.line()
        if line.upper().startswith(wanted.upper()):
            return
        if not line.startswith(b"* "):
            raise TargetError("auth: refused")
    raise TargetError(f"auth: an answer of more than {_MOST_LINES} lines")
