"""Child processes: started, restarted when they die, ended with their parent."""

import asyncio
import json
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import structlog

from shared.backoff import full_jitter
from shared.errors import CannotStart

log = structlog.get_logger()

Life = Callable[[], Awaitable[int]]

_LAUNCH: Final = Path(__file__).with_name("launch.py")
_STEADY_S: Final = 30.0  # after running this long, a process restarts with the shortest wait
_FIRST_WAIT_S: Final = 0.2
_LONGEST_WAIT_S: Final = 15.0
_CANNOT_START: Final = 2
_MOST_REFUSALS: Final = 5


def launched(way: str, *program: str, death: signal.Signals = signal.SIGINT) -> list[str]:
    """The command for *program*, which gets signal *death* when this process dies; *way*: see launch.py."""
    return [sys.executable, "-I", "-S", str(_LAUNCH), str(os.getpid()), str(death.value), way, *program]


async def start(variables: Mapping[str, str], *verb: str) -> Process:
    """Run ``tocsin VERB ...`` with these variables.

    It is killed together with this process: its durable state is on disk or in the database, and a
    successor finds ports and spool free at once.
    """
    return await _python(variables, DEVNULL, "shared.command", *verb)


async def load(variables: Mapping[str, str], verb: str) -> Process:
    """As `start`, but it only loads the program, until `begin` hands over its variables.

    *variables*: in which it loads.
    """
    return await _python(variables, PIPE, "shared.ahead", verb)


def begin(loaded: Process, variables: Mapping[str, str]) -> None:
    """Let a loaded program run with these variables; if it has died, waiting for it tells so."""
    if loaded.stdin is not None:
        loaded.stdin.write(json.dumps(dict(variables)).encode())
        loaded.stdin.close()


async def _python(variables: Mapping[str, str], stdin: int, *module: str) -> Process:
    command = launched("same", sys.executable, "-P", "-m", *module, death=signal.SIGKILL)
    return await asyncio.create_subprocess_exec(*command, stdin=stdin, env=variables, start_new_session=True)


async def keep(name: str, live: Life) -> None:
    """Restart the process whenever it exits. Raises CannotStart if the first, or several in a row, fail."""
    waits = full_jitter(_FIRST_WAIT_S, _LONGEST_WAIT_S)
    first, refusals = True, 0
    while True:
        born = time.monotonic()
        status = await live()
        steady = time.monotonic() - born > _STEADY_S
        refusals = refusals + 1 if status == _CANNOT_START and not steady else 0
        if refusals and (first or refusals >= _MOST_REFUSALS):
            raise CannotStart(f"the {name} cannot start; it says why above")
        first = False
        if steady:
            waits = full_jitter(_FIRST_WAIT_S, _LONGEST_WAIT_S)
        wait = next(waits)
        log.warning("died; starting it again", process=name, status=status, wait_s=round(wait, 2))
        await asyncio.sleep(wait)


async def all_kept(keepers: Sequence["asyncio.Task[None]"]) -> None:
    """Wait until one of them gives up, and raise its error."""
    done, _ = await asyncio.wait(keepers, return_when=asyncio.FIRST_COMPLETED)
    for each in done:
        each.result()


async def end(child: Process, grace: float) -> None:
    """Stop the process, or kill it after *grace* seconds."""
    for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, 1.0)):
        if child.returncode is not None:
            return
        with suppress(ProcessLookupError):
            child.send_signal(number)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await child.wait()


def supervise(work: Callable[[], Coroutine[Any, Any, None]], stop: Callable[[], Awaitable[None]]) -> int:
    """Run *work* until SIGTERM or SIGINT, then *stop*; return an exit status. Raises what *work* raises."""

    async def until_told() -> None:
        loop = asyncio.get_running_loop()
        working = asyncio.create_task(work())
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, working.cancel)
        try:
            await working
        finally:
            await stop()

    with suppress(asyncio.CancelledError):
        asyncio.run(until_told())
    return 0
