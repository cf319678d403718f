"""Does a WebSocket open, and answer?"""

from typing import Final
from urllib.parse import urlsplit

from probe.checks._check import Check
from probe.checks._dialogue import conversation, secure
from probe.net import websocket
from probe.net.endpoint import Endpoint
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.spent import Limit, PhaseDurations
from probe.net.stream import Stream
from shared.kinds.websocket import WebSocket
from shared.results import Outcome, Status

_PORTS: Final = {"ws": 80, "wss": 443}
_SWITCHING: Final = 101


def prepare(kind: WebSocket) -> Check:
    parts = urlsplit(kind.url)
    tls = parts.scheme == "wss"
    port = parts.port or _PORTS[parts.scheme]
    to = Endpoint.of(parts.hostname or "", port, tls=tls, verify=kind.verify_tls)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    async def talk(net: Net, stream: Stream) -> int:
        if tls:
            await secure(net, stream)
        code = await websocket.upgrade(stream, path, parts.netloc, kind.headers)
        if code != _SWITCHING:
            raise TargetError(f"upgrade: status {code}, expected 101", code=code)
        await _talk(stream, kind)
        return code

    async def check(net: Net, deadline: float) -> Outcome:
        spent = PhaseDurations()
        code = await conversation(net, to, spent, Limit.until(deadline), talk)
        return Outcome(Status.UP, code, phases=spent.phases(), address=spent.address, ends=spent.ends)

    return check


async def _talk(stream: Stream, kind: WebSocket) -> None:
    stream.phase = "message"
    if kind.send is not None:
        await websocket.say(stream, kind.send)
    if kind.expect is not None:
        message = await websocket.hear(stream)
        if kind.expect.encode() not in message:
            raise TargetError("message: the expected text is not in the answer", code=_SWITCHING)
    websocket.close(stream)
