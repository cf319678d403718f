"""Does a POP3 server greet, and let one in?"""

from typing import Final

from probe.checks._check import Check
from probe.checks._dialogue import dialogue, secure
from probe.net.endpoint import Endpoint
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.stream import Stream
from probe.net.tls import starttls
from shared.kinds.pop3 import Pop3

_PORT: Final = 110
_TLS_PORT: Final = 995


def prepare(kind: Pop3) -> Check:
    tls = kind.security == "tls"
    port = kind.port or (_TLS_PORT if tls else _PORT)
    to = Endpoint.of(kind.host, port, tls=tls, verify=kind.verify_tls)

    async def talk(net: Net, stream: Stream) -> None:
        await starttls.pop3_answer(stream)
        if kind.security == "starttls":
            stream.phase = "starttls"
            await starttls.command(stream, b"STLS")
            await starttls.pop3_answer(stream)
            await secure(net, stream)
        if kind.username:
            stream.phase = "auth"
            await _say(stream, b"USER " + kind.username.encode())
            await _say(stream, b"PASS " + kind.password.encode())
        stream.farewell(b"QUIT\r\n")

    return dialogue(to, talk)


async def _say(stream: Stream, words: bytes) -> None:
    """Send a command; responses are not shown, because some servers repeat it."""
    await starttls.command(stream, words)
    if not (await stream.line()).upper().startswith(b"+OK"):
        raise TargetError("auth: refused")
