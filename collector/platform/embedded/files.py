"""The embedded server's files: programs, data, socket, password, and a run that was left behind."""

import fcntl
import hashlib
import os
import stat
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from collector.platform.embedded.user import ServerUser, choose, enterable, system_dir
from shared.children import launched
from shared.errors import CannotStart

NAME: Final = "tocsin"  # of the superuser and of the database
_SOCKET: Final = ".s.PGSQL.5432"
_SOCKET_PATH_LIMIT: Final = 107
_HOME_NOTE: Final = "postgres-home"

log = structlog.get_logger()


class DirectoryInUse(CannotStart):
    """Another process uses the data directory."""


@dataclass(frozen=True, slots=True)
class ServerHome:
    """A server's data directory, and the user that runs it."""

    data: Path
    sockets: Path
    user: ServerUser
    title: str  # appears in the command line of each of its processes

    def command(self, program: str, *arguments: str) -> list[str]:
        """The command that starts a program of the server as the right user."""
        return launched(self.user.way, str(self.user.programs / program), *arguments)

    def run(self, program: str, *arguments: str, stdin: str = "") -> str:
        """Run a program of the server and return its output."""
        done = subprocess.run(  # noqa: S603 - our own program, no shell
            self.command(program, *arguments),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            env={"LC_ALL": "C"},
            start_new_session=True,
        )
        if done.returncode != 0:
            raise CannotStart(f"PostgreSQL's {program} failed: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def major(self) -> str:
        """The major version of the programs."""
        answer = self.run("postgres", "--version")
        return answer.split()[-1].partition(".")[0]

    def running(self) -> list[int]:
        """The process ids of this server, regardless of who started them."""
        return running(self.title)

    def status(self) -> tuple[int, str]:
        """The server's first process and its state; `ready` when it accepts connections."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            lines = []
        # The file grows while it is read: the server appends lines during startup.
        pid = int(lines[0]) if lines and lines[0].isdigit() else 0
        return pid, lines[7].strip() if len(lines) > 7 else ""


def lock(data_dir: Path) -> int:
    """Lock the directory for as long as the returned file is open. Raises InUse if it is locked.

    Raises CannotStart if it cannot be created or written.
    """
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(data_dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CannotStart(f"TOCSIN_DATA_DIR: {data_dir} cannot be used: {error.strerror}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(file, 20).decode(errors="replace").strip() or "unknown"
        os.close(file)
        raise DirectoryInUse(
            f"{data_dir} is in use by another tocsin (process {holder}); "
            "stop that one, or give this one another TOCSIN_DATA_DIR"
        ) from None
    os.ftruncate(file, 0)
    os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
    return file


def kept(path: Path, make: Callable[[], str]) -> str:
    """The text of a file that only its owner may read; created atomically on first use."""
    if path.exists():
        return path.read_text().strip()
    text = make()
    write_private(path, text)
    return text


def write_private(path: Path, text: str) -> None:
    """Write a file of mode 0600 atomically.

    Raises CannotStart if it cannot be written.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    except OSError as error:
        raise CannotStart(f"{path} cannot be written: {error.strerror}") from error
    with os.fdopen(handle, "w") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    Path(name).rename(path)
    sync_dir(path.parent)


def sync_dir(path: Path) -> None:
    """Fsync a directory, so that created or renamed entries persist."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def url(data_dir: Path) -> str:
    """The URL of this directory's server, with its password. Raises CannotStart if there is none."""
    try:
        password = (data_dir / "postgres-password").read_text().strip()
        sockets = (data_dir / "postgres-socket").read_text().strip()
    except FileNotFoundError:
        raise CannotStart(f"there is no database in {data_dir}") from None
    return f"postgresql://{NAME}:{password}@/{NAME}?host={sockets}"


def settle(data_dir: Path) -> ServerHome:
    """Choose the location and the user of the server of *data_dir*. Raises CannotStart."""
    title = f"{NAME}-{hashlib.sha256(bytes(data_dir)).hexdigest()[:12]}"
    home = _home(data_dir)
    user = choose(home and home / "postgres")
    if home is None:
        home = _new_home(data_dir, title) if user.other else data_dir
    return ServerHome(
        data=home / "postgres", sockets=_socket_dir(data_dir, home, user), user=user, title=title
    )


def note_home(data_dir: Path, place: ServerHome) -> None:
    """Store the location of the data, if it is elsewhere."""
    if place.data.parent != data_dir:
        write_private(data_dir / _HOME_NOTE, str(place.data.parent))


def _home(data_dir: Path) -> Path | None:
    """The location of the data, as stored at an earlier start."""
    note = data_dir / _HOME_NOTE
    home = Path(note.read_text().strip()) if note.exists() else data_dir
    if (home / "postgres" / "PG_VERSION").exists():
        return home
    if note.exists():
        raise CannotStart(
            f"the database of {data_dir} was in {home}, and is not there; "
            f"put it back, or remove {note} to begin with an empty one"
        )
    return None


def _new_home(data_dir: Path, title: str) -> Path:
    """A location that the server's user can access: the data directory itself, if others may traverse it."""
    if enterable(data_dir):
        data_dir.chmod(data_dir.stat().st_mode | 0o011)
        return data_dir
    home = system_dir() / title
    home.mkdir(exist_ok=True)
    home.chmod(0o711)
    log.warning(
        "no other user can reach the data directory, so the database is elsewhere", directory=str(home)
    )
    return home


def running(title: str) -> list[int]:
    """The process ids of a server, regardless of who started it."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if (entry / "comm").read_text() == "postgres\n" and title.encode() in (
                entry / "cmdline"
            ).read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue  # it has exited
    return found


def clear_stale(place: ServerHome) -> None:
    """Remove the files of a dead server; call it only if `running` finds nothing."""
    for path in (
        place.data / "postmaster.pid",
        place.sockets / _SOCKET,
        place.sockets / f"{_SOCKET}.lock",
    ):
        path.unlink(missing_ok=True)


def _socket_dir(data_dir: Path, home: Path, user: ServerUser) -> Path:
    note = data_dir / "postgres-socket"
    wanted = home / "socket"
    if len(bytes(wanted / _SOCKET)) > _SOCKET_PATH_LIMIT:
        before = Path(note.read_text().strip()) if note.exists() else None
        wanted = (
            before
            if before and _private(before, user.uid)
            else Path(tempfile.mkdtemp(prefix="tocsin-", dir="/tmp"))
        )
    wanted.mkdir(mode=0o700, exist_ok=True)
    os.chown(wanted, user.uid, user.gid)
    if not _private(wanted, user.uid):
        raise CannotStart(f"{wanted} must be a directory that only user {user.uid} may enter")
    write_private(note, str(wanted))
    return wanted


def _private(path: Path, uid: int) -> bool:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == uid and not status.st_mode & 0o077
