"""Starts processes of the product by forking one that has loaded its code: 0.03 s of CPU in place of 1.5.

Every ``python -m shared.command VERB ...`` and ``python -m probe.cli.check ...`` that runs this tree is
started so, and what such a process starts of its own kind as well; from `main` on it is the same code. Tests
that prove the start itself execute another command, such as ``python -P -m shared.command`` or ``tocsin``;
with ``--no-forks`` all are executed.
"""

import atexit
import ctypes
import gc
import inspect
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NoReturn

from shared import ahead, command
from shared.settings import quiet_libraries

_ROOT: Final = Path(__file__).parents[1]
_LAUNCH: Final = str(_ROOT / "shared/launch.py")
# A process shows its command line in the memory of the one it was forked from, which needs room for it.
_ROOM: Final = "-" * 4096
_LARGEST: Final = 1 << 20
_CLOEXEC_FROM: Final = 3
_ADOPTED_WITHIN_S: Final = 5.0
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_ARG_START, _ARG_END = 47, 48  # in /proc/self/stat
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Order:
    """A process to start: *module* is run with *words*. *parent* and *death*: as launch.py takes them."""

    module: str
    words: list[str]
    environment: dict[str, str]
    directory: str
    session: bool
    parent: int = 0
    death: int = 0


Start = Callable[[Order, tuple[int, int, int]], int]
"""Starts a process with this stdin, stdout and stderr; returns its number."""


class Loaded:
    """A process that has loaded the product. What is forked from it becomes a child of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def load(self) -> None:
        """Begin to load, unless that was begun; `start` waits for it."""
        if self._socket is not None:
            return
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forked", str(theirs.fileno()), _ROOM],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                cwd=_ROOT,
            )

    def start(self, order: Order, streams: tuple[int, int, int]) -> int:
        """As `Start`."""
        with self._lock:
            self.load()
            assert self._socket is not None
            # Between these calls, what loses its parent becomes a child of this process.
            _prctl(_PR_SET_CHILD_SUBREAPER, 1)
            try:
                socket.send_fds(self._socket, [json.dumps(asdict(order)).encode()], streams)
                return int(self._socket.recv(_LARGEST))
            finally:
                _prctl(_PR_SET_CHILD_SUBREAPER, 0)

    def close(self) -> None:
        if self._socket is not None and self._process is not None:
            self._socket.close()
            self._process.wait()


def install(start: Start) -> None:
    """Let *start* start what `Popen` would execute, where it is a command of the product."""
    execute: Final = subprocess.Popen._execute_child  # type: ignore[attr-defined]
    signature: Final = inspect.signature(execute)

    def execute_or_fork(popen: Any, *args: Any, **named: Any) -> None:
        given = signature.bind(popen, *args, **named).arguments
        order = _order(given)
        if order is None:
            execute(popen, *args, **named)
            return
        streams = [
            given[name] if given[name] != -1 else number
            for number, name in enumerate(("p2cread", "c2pwrite", "errwrite"))
        ]
        try:
            popen.pid = start(order, (streams[0], streams[1], streams[2]))
            popen._child_created = True
        finally:
            pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
            popen._close_pipe_fds(*(given[name] for name in pipes))

    subprocess.Popen._execute_child = execute_or_fork  # type: ignore[attr-defined]


def _order(given: Mapping[str, Any]) -> Order | None:
    """What to fork for these arguments of `Popen`; None if they are to be executed."""
    unusual = ("executable", "preexec_fn", "pass_fds", "shell", "gid", "gids", "uid")
    environment = os.environ if given["env"] is None else given["env"]
    directory = os.fspath(given["cwd"] or Path.cwd())
    if (
        any(given[name] not in (None, False, ()) for name in unusual)
        or isinstance(given["args"], str | bytes | os.PathLike)
        or environment.get("PYTHONPATH", str(_ROOT)) != str(_ROOT)
        or Path(directory) != _ROOT
    ):
        return None
    session = bool(given["start_new_session"])
    match list(given["args"]):
        case [sys.executable, "-m", "shared.command" | "probe.cli.check" as module, *words]:
            return Order(module, list(map(str, words)), dict(environment), directory, session)
        case [sys.executable, "-I", "-S", launch, parent, death, "same", *rest] if launch == _LAUNCH:
            match rest:
                case [sys.executable, "-P", "-m", "shared.command" | "shared.ahead" as module, *words]:
                    made = Order(module, list(words), dict(environment), directory, session)
                    return replace(made, parent=int(parent), death=int(death))
    return None


def fork(order: Order, streams: tuple[int, int, int]) -> int:
    """As `Start`, by a fork of this very process, of which nothing remains to be seen."""
    sys.stdout.flush()
    sys.stderr.flush()
    number = os.fork()
    if number == 0:
        _become(order, streams)
    return number


def _become(order: Order, streams: tuple[int, int, int]) -> NoReturn:
    """Run the program, and end as the interpreter does."""
    status = 1
    try:
        # What the other process left is never finalised: its files' numbers are soon those of other files.
        gc.freeze()
        _forget_signals()
        _take(streams)
        if order.session:
            os.setsid()
        os.chdir(order.directory)
        os.environ.clear()
        os.environ.update(order.environment)
        program = [sys.executable, "-m", order.module, *order.words]
        if order.death:
            program.insert(1, "-P")
            _die_with(order.parent, order.death)
        _show(program)
        sys.argv = [str(_ROOT / f"{order.module.replace('.', '/')}.py"), *order.words]
        status = _run(order)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    except BaseException:  # noqa: BLE001 - as the interpreter does
        sys.excepthook(*sys.exc_info())
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _run(order: Order) -> int:
    if order.module == "shared.ahead":
        return ahead.main(*order.words)
    status: int = import_module(order.module).main(order.words)
    return status


def _die_with(parent: int, number: int) -> None:
    """As launch.py does, once *parent* has it: a fork in between may still have to end."""
    os.umask(0o077)
    deadline = time.monotonic() + _ADOPTED_WITHIN_S
    while os.getppid() != parent and time.monotonic() < deadline:
        time.sleep(0.001)
    _prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        raise SystemExit("the parent has gone")


def _forget_signals() -> None:
    """Handle signals as after an execution: as by default, unless they are ignored."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, usual)


def _take(streams: tuple[int, int, int]) -> None:
    """Make these the standard streams, and close all other files."""
    aside = [os.dup(number) for number in streams]
    for number, copy in enumerate(aside):
        os.dup2(copy, number)
    os.closerange(_CLOEXEC_FROM, os.sysconf("SC_OPEN_MAX"))


def _show(program: list[str]) -> None:
    """Have the system show this command line for this process."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = int(fields[_ARG_START - 2]), int(fields[_ARG_END - 2])
    text = b"\0".join(os.fsencode(word) for word in program)
    ctypes.memmove(start, text.ljust(end - start, b"\0"), end - start)


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def _serve(orders: socket.socket) -> None:
    """Fork a process for each order, and answer with its number, until the other end is closed."""
    gc.collect()
    gc.freeze()
    while True:
        text, streams, _, _ = socket.recv_fds(orders, _LARGEST, 3)
        if not text:
            return
        assert len([*Path("/proc/self/task").iterdir()]) == 1, "a fork would lose a thread"
        order = Order(**json.loads(text))
        reading, writing = os.pipe()
        between = os.fork()
        if between == 0:
            number = fork(order, (streams[0], streams[1], streams[2]))
            os.write(writing, str(number).encode())
            os._exit(0)
        answer = os.read(reading, 20)
        # Its child has no parent now, but the process that asked.
        os.waitpid(between, 0)
        for each in (reading, writing, *streams):
            os.close(each)
        orders.send(answer)


def _load() -> None:
    """Load everything that a command may need."""
    quiet_libraries()
    for verb in command.VERBS:
        command.load(verb)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt), socket.socket(fileno=int(sys.argv[1])) as _orders:
        _load()
        install(fork)
        _serve(_orders)
