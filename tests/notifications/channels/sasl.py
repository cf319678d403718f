"""A server of logins that speaks Dovecot's authentication protocol, as a mail server asks one."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from tests.streams import stream_server

_GREETING: Final = (
    "VERSION\t1\t1",
    "MECH\tPLAIN\tplaintext",
    "SPID\t1",
    "CUID\t1",
    f"COOKIE\t{'0' * 32}",
    "DONE",
    "",
)


@asynccontextmanager
async def logins(user: str, password: str) -> AsyncIterator[int]:
    """Knows one person; the port."""
    good = base64.b64encode(f"\0{user}\0{password}".encode()).decode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write("\n".join(_GREETING).encode())
        with suppress(OSError):
            while line := (await reader.readline()).decode().rstrip("\n"):
                verb, *rest = line.split("\t")
                if verb == "AUTH":
                    word = "OK" if f"resp={good}" in rest else "FAIL"
                    writer.write(f"{word}\t{rest[0]}\tuser={user}\n".encode())
        writer.close()

    async with stream_server(serve) as port:
        yield port
