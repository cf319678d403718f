"""Does an SMTP server greet, and let one in?"""

import base64
from typing import Final

from probe.checks._check import Check
from probe.checks._dialogue import dialogue, secure
from probe.net.endpoint import Endpoint
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.stream import Stream
from probe.net.tls import starttls
from shared.kinds.smtp import Smtp

_PORT: Final = 25
_TLS_PORT: Final = 465


def prepare(kind: Smtp) -> Check:
    tls = kind.security == "tls"
    port = kind.port or (_TLS_PORT if tls else _PORT)
    to = Endpoint.of(kind.host, port, tls=tls, verify=kind.verify_tls)

    async def talk(net: Net, stream: Stream) -> None:
        can = await starttls.smtp_greeting(stream)
        if kind.security == "starttls":
            if b"STARTTLS" not in can:
                raise TargetError("starttls: not offered")
            stream.phase = "starttls"
            await starttls.command(stream, b"STARTTLS")
            await starttls.smtp_answer(stream, b"220")
            await secure(net, stream)
            can = await starttls.smtp_hello(stream)
        if kind.username:
            await _log_in(stream, can, kind.username.encode(), kind.password.encode())
        stream.farewell(b"QUIT\r\n")

    return dialogue(to, talk)


async def _log_in(stream: Stream, can: list[bytes], username: bytes, password: bytes) -> None:
    """Log in; responses are not shown, because some servers repeat what they received."""
    stream.phase = "auth"
    ways = {way for line in can if line.startswith(b"AUTH") for way in line[4:].replace(b"=", b" ").split()}
    if b"PLAIN" in ways:
        await _say(stream, b"AUTH PLAIN " + base64.b64encode(b"\0" + username + b"\0" + password), b"235")
    elif b"LOGIN" in ways:
        await _say(stream, b"AUTH LOGIN", b"334")
        await _say(stream, base64.b64encode(username), b"334")
        await _say(stream, base64.b64encode(password), b"235")
    else:
        raise TargetError("auth: neither PLAIN nor LOGIN is offered")


async def _say(stream: Stream, words: bytes, wanted: bytes) -> None:
    await starttls.command(stream, words)
    code = (await stream.line())[:3]
    if code != wanted:
        raise TargetError(f"auth: refused ({starttls.shown(code)})")
