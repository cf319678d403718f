"""Ends a process whose event loop stalls, so that its supervisor restarts it."""

import asyncio
import faulthandler
import mmap
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Final

_WATCHER: Final = Path(__file__).with_name("watcher.py")
_BEAT_S: Final = 1.0
_BEATS, _CHECK = range(2)


class Watchdog:
    """Watches this process from now on until `stop`; a hanging process ends by SIGABRT.

    *notes*: file for the check in which the loop hung.
    """

    def __init__(self, notes: Path | None = None) -> None:
        memory = os.memfd_create("tocsin watchdog")
        os.ftruncate(memory, mmap.PAGESIZE)
        self._numbers = memoryview(mmap.mmap(memory, mmap.PAGESIZE)).cast("Q")
        # The current check, shared with the watcher.
        self.check = self._numbers[_CHECK : _CHECK + 1]
        self._watcher: subprocess.Popen[bytes] | None = None
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        alive, self._alive = os.pipe()
        # A debugger may stop the loop for any time.
        if sys.gettrace() is None:
            _show_stacks()
            program = [sys.executable, "-I", "-S", str(_WATCHER)]
            about = [str(os.getpid()), str(alive), str(memory), str(notes or "")]
            self._watcher = subprocess.Popen(  # noqa: S603 - a program of ours
                [*program, *about], pass_fds=(alive, memory), stdin=subprocess.DEVNULL
            )
        os.close(alive)
        os.close(memory)
        self._beat()

    def stop(self) -> None:
        """Stop watching, before work that may take long."""
        if self._timer is not None:
            self._timer.cancel()
        if self._alive >= 0:
            os.close(self._alive)
            self._alive = -1
        if self._watcher is not None:
            self._watcher.wait()
            self._watcher = None

    def _beat(self) -> None:
        self._numbers[_BEATS] += 1
        self._timer = self._loop.call_later(_BEAT_S, self._beat)


def _show_stacks() -> None:
    """On SIGABRT, print all stacks to stderr; no core dump, since memory contains secrets."""
    faulthandler.enable()
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))
