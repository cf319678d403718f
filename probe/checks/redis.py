"""Does a Redis server answer?"""

from probe.checks._check import Check
from probe.checks._dialogue import dialogue
from probe.net.endpoint import Endpoint
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.stream import Stream
from probe.net.tls.starttls import shown
from shared.kinds.redis import Redis


def prepare(kind: Redis) -> Check:
    to = Endpoint.of(kind.host, kind.port, tls=kind.tls, verify=kind.verify_tls)

    async def talk(_net: Net, stream: Stream) -> None:
        if kind.password:
            await _log_in(stream, kind.username.encode(), kind.password.encode())
        stream.phase = "ping"
        await stream.send(_command(b"PING"))
        line = await stream.line()
        if line != b"+PONG" and (kind.password or not line.startswith(b"-NOAUTH")):
            known = line[:1] in {b"-", b"+"}
            text = f"answered {shown(line[1:])}" if known else f"not a Redis server ({shown(line)})"
            raise TargetError(f"ping: {text}")

    return dialogue(to, talk)


async def _log_in(stream: Stream, username: bytes, password: bytes) -> None:
    stream.phase = "auth"
    words = [b"AUTH", username, password] if username else [b"AUTH", password]
    await stream.send(_command(*words))
    line = await stream.line()
    if line != b"+OK":
        reason = line[1:].split(b" ", 1)[0] if line[:1] == b"-" else b"no Redis server"
        raise TargetError(f"auth: refused ({shown(reason)})")


def _command(*words: bytes) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
