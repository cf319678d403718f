"""The watchdog's own process: ``watcher.py PROCESS ALIVE MEMORY NOTES``.

A process of its own, for a thread cannot run while code in C holds the interpreter. PROCESS is the other's
number. This lives as long as the pipe ALIVE is open at its other end. The file MEMORY holds two numbers: how
often the loop has turned, and which check it is in, 0 for none. The check is added to the file named NOTES,
unless that is empty.
"""

import mmap
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Final

LONGEST_S: Final = 10.0
# A check that runs this long without a break, mostly computing, will not end: the longest step of one takes
# a tenth of that. So the process restarts before its assignments are given to others.
LONGEST_IN_A_CHECK_S: Final = 2.5
_USED_IN_A_CHECK_S: Final = 2.0
_TICK_S: Final = 0.5
# If the watcher itself wakes this late, the machine slept or is overloaded, and nothing can be concluded.
_LATE_S: Final = 1.5
_TO_DIE_S: Final = 3.0
# Stopped, traced, or waiting for a disk: a restart would not help.
_EXCUSED: Final = frozenset("TtD")
_CLOCK: Final = os.sysconf("SC_CLK_TCK")


def main(argv: list[str]) -> None:
    """Watch until the process exits or is killed."""
    process, alive, memory = map(int, argv[:3])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    numbers = memoryview(mmap.mmap(memory, 16)).cast("Q")
    silent_s, used_at, seen, woke_at = 0.0, 0.0, 0, time.monotonic()
    while not select.select([alive], [], [], _TICK_S)[0]:
        slept_s, woke_at = time.monotonic() - woke_at, time.monotonic()
        state, used_s = _looked_at(process)
        if numbers[0] == 0 or numbers[0] != seen or slept_s > _LATE_S or state in _EXCUSED:
            silent_s, used_at, seen = 0.0, used_s, numbers[0]
            continue
        silent_s += slept_s
        check = numbers[1]
        runs_on = check and silent_s >= LONGEST_IN_A_CHECK_S and used_s - used_at >= _USED_IN_A_CHECK_S
        if silent_s >= LONGEST_S or runs_on:
            _end(process, alive, check, argv[3], silent_s)
            return


def _looked_at(process: int) -> tuple[str, float]:
    """The state of its first thread, and the CPU time that it has used, in seconds."""
    try:
        fields = Path(f"/proc/{process}/task/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "T", 0.0
    return fields[0], (int(fields[11]) + int(fields[12])) / _CLOCK


def _end(process: int, alive: int, check: int, notes: str, silent_s: float) -> None:
    """Send SIGABRT, which makes it print its stacks, and kill it if necessary."""
    if check and notes:
        file = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.write(file, f"{check}\n".encode())
        os.fsync(file)
    print(  # noqa: T201 - it has no log of its own
        f"tocsin: the event loop of process {process} stands still since {silent_s:.0f} s: "
        "it is ended, and says below where it stood",
        file=sys.stderr,
        flush=True,
    )
    os.kill(process, signal.SIGABRT)
    if not select.select([alive], [], [], _TO_DIE_S)[0]:
        os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
