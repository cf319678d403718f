"""STARTTLS of each protocol, up to the start of the handshake."""

import struct
from collections.abc import Awaitable, Callable
from typing import Final

from probe.net.errors import TargetError
from probe.net.stream import Stream

_MOST_LINES: Final = 100
_SHOWN: Final = 100


async def smtp(stream: Stream) -> None:
    await smtp_greeting(stream)
    stream.phase = "starttls"
    await command(stream, b"STARTTLS")
    await smtp_answer(stream, b"220")


async def smtp_greeting(stream: Stream) -> list[bytes]:
    """The server's capabilities in upper case."""
    await smtp_answer(stream, b"220")
    return await smtp_hello(stream)


async def smtp_hello(stream: Stream) -> list[bytes]:
    stream.phase = "ehlo"
    await command(stream, b"EHLO probe.invalid")
    return [line[4:].upper() for line in await smtp_answer(stream, b"250")]


async def smtp_answer(stream: Stream, code: bytes) -> list[bytes]:
    """All lines of a response, which must have *code*."""
    lines: list[bytes] = []
    for _ in range(_MOST_LINES):
        line = await stream.line()
        lines.append(line)
        if not line[:3].isdigit() or line[3:4] not in {b"", b" ", b"-"}:
            raise TargetError(f"{stream.phase}: not an SMTP server ({shown(line)})")
        if line[3:4] != b"-":
            if line[:3] != code:
                raise TargetError(f"{stream.phase}: answered {shown(line)}")
            return lines
    raise TargetError(f"{stream.phase}: an answer of more than {_MOST_LINES} lines")


async def imap(stream: Stream) -> None:
    await imap_greeting(stream)
    stream.phase = "starttls"
    await imap_command(stream, b"a1", b"STARTTLS")


async def imap_greeting(stream: Stream) -> None:
    line = await stream.line()
    if not line.startswith(b"* "):
        raise TargetError(f"greeting: not an IMAP server ({shown(line)})")
    if not line[2:].upper().startswith((b"OK", b"PREAUTH")):
        raise TargetError(f"greeting: answered {shown(line)}")


async def imap_command(stream: Stream, tag: bytes, words: bytes) -> None:
    """Send a command. Raises TargetError for any response but OK."""
    await command(stream, tag + b" " + words)
    for _ in range(_MOST_LINES):
        line = await stream.line()
        if line.startswith(tag + b" "):
            if line[len(tag) + 1 :].upper().startswith(b"OK"):
                return
            raise TargetError(f"{stream.phase}: answered {shown(line[len(tag) + 1 :])}")
        if not line.startswith((b"* ", b"+")):
            raise TargetError(f"{stream.phase}: malformed answer ({shown(line)})")
    raise TargetError(f"{stream.phase}: an answer of more than {_MOST_LINES} lines")


async def pop3(stream: Stream) -> None:
    await pop3_answer(stream)
    stream.phase = "starttls"
    await command(stream, b"STLS")
    await pop3_answer(stream)


async def pop3_answer(stream: Stream) -> None:
    """Read a response. Raises TargetError for any but +OK."""
    line = await stream.line()
    if line.upper().startswith(b"-ERR"):
        raise TargetError(f"{stream.phase}: answered {shown(line)}")
    if not line.upper().startswith(b"+OK"):
        raise TargetError(f"{stream.phase}: not a POP3 server ({shown(line)})")


async def postgres(stream: Stream) -> None:
    stream.phase = "starttls"
    await stream.send(struct.pack("!II", 8, 80_877_103))
    data = await stream.exactly(1)
    if data == b"N":
        raise TargetError("starttls: the server has no TLS")
    if data != b"S":
        raise TargetError(f"starttls: not a PostgreSQL server ({shown(data)})")


async def command(stream: Stream, words: bytes) -> None:
    await stream.send(words + b"\r\n")


def shown(line: bytes) -> str:
    """A server's text, sanitized for display."""
    text = "".join(chr(byte) if 0x20 <= byte <= 0x7E else "?" for byte in line[: _SHOWN + 1])
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


STARTTLS: Final[dict[str, Callable[[Stream], Awaitable[None]]]] = {
    "smtp": smtp,
    "imap": imap,
    "pop3": pop3,
    "postgres": postgres,
}
