"""Request bodies: read within a time limit, decompressed in slices, capped in size.

The web server itself must not unpack: it would do so for handlers that read no body, and after the response.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Final

from aiohttp import hdrs, web

from collector.platform.metrics import bytes_unpacked
from shared.errors import BodyTooLarge, Invalid

# How long the rest of a body is read after the response, before the connection is closed.
LINGER_S: Final = 1.0
_SLICE: Final = 64 << 10
_MOST_MEMBERS: Final = 1_000
_PLAIN: Final = frozenset({"", "identity"})
_GZIP: Final = frozenset({"gzip", "x-gzip"})
_UNREADABLE: Final = {"body": "cannot be read as it is encoded"}

Grown = Callable[[int], Awaitable[None]]


def is_packed(request: web.Request) -> bool:
    """Whether the body is packed with gzip. Raises HTTPUnsupportedMediaType for any other encoding."""
    encoding = ",".join(request.headers.getall(hdrs.CONTENT_ENCODING, ())).strip().lower()
    if encoding in _PLAIN:
        return False
    if encoding not in _GZIP:
        raise web.HTTPUnsupportedMediaType(reason="The body must be sent as it is, or packed with gzip")
    return True


async def whole(
    request: web.Request, most: int, within_s: float, *, packed: bool, grown: Grown | None = None
) -> bytes:
    """Return the body; *grown* is called with its size after each slice.

    Raises BodyTooLarge, Invalid, HTTPRequestTimeout.
    """
    if (request.content_length or 0) > most:
        raise BodyTooLarge(most)
    try:
        async with asyncio.timeout(within_s):
            return await _joined(pieces(request, most, packed=packed), most, grown)
    except TimeoutError:
        raise web.HTTPRequestTimeout(reason=f"The body did not come within {within_s:g} s") from None


async def pieces(request: web.Request, most: int, *, packed: bool) -> AsyncIterator[bytes]:
    """Yield the body as it comes, unpacked if *packed*; at most *most* bytes are read from the wire.

    Raises BodyTooLarge, Invalid.
    """
    gzip, size = _Gunzip(), 0
    try:
        async for piece in request.content.iter_any():
            size += len(piece)
            if size > most:
                raise BodyTooLarge(most)
            if not packed:
                yield piece
                continue
            for part in gzip.feed(piece):
                yield part
                await asyncio.sleep(0)
        gzip.end()
    except (web.RequestPayloadError, zlib.error):
        raise Invalid(_UNREADABLE) from None


async def _joined(parts: AsyncIterator[bytes], most: int, grown: Grown | None) -> bytes:
    whole_, size = [], 0
    async for part in parts:
        whole_.append(part)
        size += len(part)
        if size > most:
            raise BodyTooLarge(most)
        if grown is not None:
            await grown(size)
    return b"".join(whole_)


class _Gunzip:
    """Unpacks gzip in pieces; a gzip file may have several members, one after another."""

    __slots__ = ("_fed", "_left", "_one")

    def __init__(self) -> None:
        self._one = _unpacker()
        self._left = _MOST_MEMBERS
        self._fed = False

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield the unpacked *piece* in slices, each on demand. Raises zlib.error."""
        self._fed = True
        for start in range(0, len(piece), _SLICE):
            yield from self._slices(piece[start : start + _SLICE])

    def end(self) -> None:
        """Raises zlib.error if the end is missing."""
        if self._fed and not self._one.eof:
            raise zlib.error("the end is missing")

    def _slices(self, rest: bytes) -> Iterator[bytes]:
        full = False
        while rest or full:
            if self._one.eof:
                self._next()
            out = self._one.decompress(rest, _SLICE)
            full = len(out) == _SLICE and not self._one.eof
            rest = self._one.unused_data if self._one.eof else self._one.unconsumed_tail
            if out:
                bytes_unpacked.inc(len(out))
                yield out

    def _next(self) -> None:
        self._left -= 1
        if self._left <= 0:
            raise zlib.error("too many parts")
        self._one = _unpacker()


def _unpacker() -> "zlib._Decompress":
    return zlib.decompressobj(16 + zlib.MAX_WBITS)
