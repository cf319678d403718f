"""The banner of a TCP target, read as far as it is looked into."""

from typing import Final

from probe.net.errors import TargetError
from shared.effort import Meter, TooCostly
from shared.patterns import Finder

MOST_BYTES: Final = 65_536
# One search of all received text takes at most 20 ms, all searches together half a second.
_MOST_SCANS: Final = 1 << 21
_SCANS_IN_ALL: Final = 1 << 26


class Banner:
    """Complete once *finder* matches the received text; *wanted*: its human-readable form."""

    __slots__ = ("_finder", "_meter", "_most", "_wanted", "code", "data", "phase")

    def __init__(self, finder: Finder, wanted: str) -> None:
        self.code = 0
        self.data = bytearray()
        self.phase = "first byte"
        self._finder = finder
        self._most = min(MOST_BYTES, _MOST_SCANS // finder.size)
        self._meter = Meter(scans=_SCANS_IN_ALL)
        self._wanted = wanted

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    def feed(self, data: bytes) -> bool:
        self.phase = "expect"
        self.data += data[: self._most - len(self.data)]
        try:
            self._meter.scan(len(self.data) * self._finder.size)
        except TooCostly:
            raise TargetError(f"expect: no {self._wanted}, and too costly to look for any longer") from None
        if self._finder.finds(self.text):
            return True
        if len(self.data) >= self._most:
            raise TargetError(f"expect: no {self._wanted} in the first {self._most // 1024} KiB")
        return False

    def end(self, peer: str) -> None:
        if not self.data:
            raise TargetError(f"first byte: connection closed by {peer} without an answer")
        came = len(self.data)
        raise TargetError(f"expect: connection closed by {peer} after {came} bytes without {self._wanted}")

    def late(self, words: str) -> str:
        """The error if time runs out after *words* and other text was received."""
        came = len(self.data)
        return f"expect: no {self._wanted} within {words}, but {came} bytes of something else"
