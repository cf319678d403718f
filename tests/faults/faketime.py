"""The wall clock of one process, set while it runs; libfaketime stands between it and the system."""

import platform
from pathlib import Path

import pytest

from tests.e2e.fleet import Part


def library() -> Path:
    """Skips where libfaketime is not installed."""
    found = Path(f"/usr/lib/{platform.machine()}-linux-gnu/faketime/libfaketimeMT.so.1")
    if not found.exists():
        pytest.skip("clocks: libfaketime is not installed")
    return found


class WallClock:
    """Of *part*, which is started again to have it. Durations go on as they are.

    What is set counts within a second.
    """

    def __init__(self, part: Part) -> None:
        self._file = part.home / "faketime"
        self.set("+0")
        part.stop()
        part.executed = True
        part.variables = {
            "LD_PRELOAD": str(library()),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }
        part.start()

    def set(self, offset: str) -> None:
        """``+3600``: an hour ahead; ``+0 x1.0005``: too fast by so much."""
        draft = self._file.with_suffix(".new")
        draft.write_text(offset)
        draft.replace(self._file)
