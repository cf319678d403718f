"""What a TCP target says, as far as it is looked into."""

from typing import Final

from probe.net.errors import TargetError
from shared.patterns import Finds

MOST_BYTES: Final = 65_536


class Banner:
    """Complete once *finds* is content with the text so far; *wanted* is how people write it."""

    __slots__ = ("_finds", "_wanted", "code", "data", "phase")

    def __init__(self, finds: Finds, wanted: str) -> None:
        self.code = 0
        self.data = bytearray()
        self.phase = "first byte"
        self._finds = finds
        self._wanted = wanted

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    def feed(self, data: bytes) -> bool:
        self.phase = "expect"
        self.data += data[: MOST_BYTES - len(self.data)]
        if self._finds(self.text):
            return True
        if len(self.data) >= MOST_BYTES:
            raise TargetError(f"expect: no {self._wanted} in the first {MOST_BYTES // 1024} KiB")
        return False

    def end(self, peer: str) -> None:
        if not self.data:
            raise TargetError(f"first byte: connection closed by {peer} without an answer")
        came = len(self.data)
        raise TargetError(f"expect: connection closed by {peer} after {came} bytes without {self._wanted}")

    def late(self, words: str) -> str:
        """Why it failed, when the time is over after *words* and something else came."""
        came = len(self.data)
        return f"expect: no {self._wanted} within {words}, but {came} bytes of something else"
