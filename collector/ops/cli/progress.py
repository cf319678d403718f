"""Progress of a long command: one line that is rewritten on a terminal, nothing elsewhere."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, cast

_EVERY_S: Final = 0.2
_MIB: Final = 1 << 20

Count = Callable[[int], None]


@contextmanager
def shown(doing: str, most: int | None = None) -> Iterator[Count]:
    """Yield a function to call with the bytes of each step; *most*: the total, if known."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    line = _ProgressLine(doing, most)
    try:
        yield line.add
    finally:
        line.clear()


@contextmanager
def reading(file: BinaryIO, doing: str) -> Iterator[BinaryIO]:
    """*file*, wrapped to report how much of it was read."""
    with shown(doing, os.fstat(file.fileno()).st_size) as count:
        yield cast("BinaryIO", _CountedFile(file, count))


class _ProgressLine:
    """The progress line on the terminal."""

    def __init__(self, doing: str, most: int | None) -> None:
        self._doing = doing
        self._most = most
        self._done = 0
        self._next = 0.0

    def add(self, count: int) -> None:
        self._done += count
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY_S
            part = f", {min(100, 100 * self._done // self._most)} %" if self._most else ""
            self._write(f"{self._doing}: {self._done / _MIB:.1f} MiB{part}")

    def clear(self) -> None:
        self._write("")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


class _CountedFile:
    """A file that is only read sequentially."""

    def __init__(self, file: BinaryIO, count: Count) -> None:
        self._file = file
        self._count = count

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._count(len(data))
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset, whence)
