"""Response bodies for assertions: decompressed, capped in size."""

import zlib
from typing import Final

import brotli

# Accept-Encoding if a body is kept; otherwise compression is useless.
ACCEPTED: Final = "gzip, deflate, br"

_GZIP: Final = 31
_ZLIB: Final = 15
_RAW: Final = -15
# Text compresses to a tenth, seldom a hundredth; a bomb to a thousandth. Small ones do no harm.
_MOST_TIMES: Final = 250
_HARMLESS_BYTES: Final = 1_048_576
_STEP_BYTES: Final = 262_144
# brotli does not report how much input it used: with small slices, the size so far is accurate enough.
_SLICE_BYTES: Final = 4_096
# gzip may consist of several streams, decompressed in turn: legitimate servers send few.
_MOST_STREAMS: Final = 1_000


class Body:
    """Keeps the first *most* bytes; *fault*: why it is unreadable, if it is."""

    __slots__ = (
        "_brotli", "_most", "_packed", "_start", "_streams", "_taken", "_unpack", "data", "fault",
    )  # fmt: skip

    def __init__(self, most: int) -> None:
        self.data = bytearray()
        self.fault = ""
        self._most = most
        self._packed = ""
        self._unpack: zlib._Decompress | None = None
        self._brotli: brotli.Decompressor | None = None
        self._start = b""
        self._taken = 0
        self._streams = 0

    @property
    def full(self) -> bool:
        return len(self.data) >= self._most

    def begin(self, encoding: str) -> None:
        """Set the encoding, from Content-Encoding."""
        match encoding.strip().lower():
            case "" | "identity":
                return
            case "gzip" | "x-gzip":
                self._packed, self._unpack = "gzip", zlib.decompressobj(_GZIP)
            case "deflate":
                self._packed = "deflate"
            case "br":
                self._packed, self._brotli = "br", brotli.Decompressor()
            case _:
                self.fault = "packed in a way that was not asked for"

    def feed(self, data: bytes) -> bool:
        """Add *data*; True if no more is needed, because there is enough or an error."""
        if not self._packed:
            self.data += data[: self._most - len(self.data)]
            return self.full or bool(self.fault)
        try:
            if self._brotli is None:
                self._take(data)
            else:
                self._take_brotli(self._brotli, data)
        except (zlib.error, brotli.error):
            self.fault = f"malformed {self._packed}"
        return self.full or bool(self.fault)

    def end(self) -> None:
        """The body is complete."""
        if self._packed and self._taken and not self.full and not self.fault and not self._finished():
            self.fault = f"{self._packed} ends too soon"

    def _finished(self) -> bool:
        if self._brotli is not None:
            return bool(self._brotli.is_finished())
        return self._unpack is not None and self._unpack.eof

    def _take(self, data: bytes) -> None:
        self._taken += len(data)
        if self._unpack is None:
            data = self._start + data
            if len(data) < 2:
                self._start = data
                return
            self._unpack = zlib.decompressobj(_ZLIB if _has_header(data) else _RAW)
        while data and not self.full and not self.fault:
            if self._unpack.eof and not self._again(data):
                return
            self.data += self._unpack.decompress(data, min(_STEP_BYTES, self._most - len(self.data)))
            data = self._unpack.unused_data or self._unpack.unconsumed_tail
            self._watch(self._taken - len(data))

    def _take_brotli(self, unpack: brotli.Decompressor, data: bytes) -> None:
        for at in range(0, len(data), _SLICE_BYTES):
            part = data[at : at + _SLICE_BYTES]
            self._taken += len(part)
            while not self.full and not self.fault:
                room = self._most - len(self.data)
                came = unpack.process(part, output_buffer_limit=min(_STEP_BYTES, room))
                self.data += came[:room]
                self._watch(self._taken)
                if not came:
                    break
                part = b""

    def _watch(self, used: int) -> None:
        if len(self.data) > max(_HARMLESS_BYTES, used * _MOST_TIMES):
            self.fault = f"{self._packed} of more than {_MOST_TIMES} times its size"

    def _again(self, data: bytes) -> bool:
        """Whether another gzip stream begins here; other trailing data is ignored."""
        self._streams += 1
        if self._packed != "gzip" or not data.startswith(b"\x1f") or self._streams > _MOST_STREAMS:
            self._streams = _MOST_STREAMS
            return False
        self._unpack = zlib.decompressobj(_GZIP)
        return True


def _has_header(data: bytes) -> bool:
    """Whether deflate has zlib's header, as it should; some servers omit it, and browsers accept that."""
    return data[0] & 15 == 8 and (data[0] << 8 | data[1]) % 31 == 0
