"""Checks that stalled the probe until the watchdog ended it: reported as unknown, not run again."""

import types
import zlib
from collections.abc import Coroutine, Generator
from pathlib import Path
from typing import Any, Final, TypeVar

T = TypeVar("T")

WORDS: Final = "this check stopped a probe"
_MOST: Final = 1_000
_HALF: Final = 32


class StoppedChecks:
    """Checks that `Watchdog` recorded in earlier lives of this probe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._marks = dict.fromkeys(_read(path)[-_MOST:])

    def __contains__(self, mark: object) -> bool:
        return mark in self._marks

    @property
    def monitors(self) -> list[tuple[int, int]]:
        """Monitors with their revisions, without tests."""
        return [(mark >> _HALF, mark % 2**_HALF) for mark in self._marks if mark >> _HALF]


def mark_of(monitor: int, revision: int, config: bytes) -> int:
    """The mark of a check: a monitor's revision, or a test's configuration."""
    return monitor << _HALF | revision if monitor else zlib.crc32(config) or 1


def _read(path: Path) -> list[int]:
    try:
        return [int(line) for line in path.read_text().splitlines() if line.isdecimal()]
    except FileNotFoundError:
        return []


@types.coroutine
def marked(slot: "memoryview[int]", mark: int, work: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    """Run *work* with *mark* in *slot* whenever the loop executes it."""
    slot[0] = mark
    try:
        waits_for = work.send(None)
        while True:
            slot[0] = 0
            try:
                value = yield waits_for
            except BaseException as error:  # noqa: BLE001 - passed on to the coroutine
                slot[0] = mark
                waits_for = work.throw(error)
            else:
                slot[0] = mark
                waits_for = work.send(value)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        slot[0] = 0
