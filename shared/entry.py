"""The entry point: a signal ends the program with one line, even while its code is still loading."""

import os
import signal
import sys
from types import FrameType
from typing import Any, Final

SERVICES: Final = frozenset({"up", "collector", "probe"})
_USUAL: Final[dict[signal.Signals, Any]] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}


def main() -> int:
    """Run the command line and return its exit status."""
    for number, usual in _USUAL.items():
        if signal.getsignal(number) == usual:  # unless it is ignored, as in a shell's background
            signal.signal(number, _end)
    from shared.command import main as command  # noqa: PLC0415 - loading it takes long enough for a Ctrl-C

    return command()


def loaded() -> None:
    """All code is loaded: from now on, a signal lets the program clean up first."""
    for number, usual in _USUAL.items():
        if signal.getsignal(number) is _end:
            signal.signal(number, usual)


def stopped(verb: str) -> int:
    """The exit status of *verb* after a signal: success for a service, failure for a command."""
    return 0 if verb in SERVICES else 1


def _end(_number: int, _frame: FrameType | None) -> Any:
    # An exception could get lost in a module that is being imported.
    os.write(sys.stderr.fileno(), b"tocsin: stopped\n")
    os._exit(stopped(sys.argv[1] if len(sys.argv) > 1 else ""))


if __name__ == "__main__":
    sys.exit(main())
