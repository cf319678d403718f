"""An earlier version of the product: built from this repository, with the packages of its own lock."""

import io
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[2]
# Made once, and kept as long as var/ is.
_KEPT: Final = _ROOT / "var" / "older"


class NoHistory(Exception):
    """The repository's history is not here: it is a shallow clone, or none."""


@dataclass(frozen=True, slots=True)
class Older:
    """*source*: the tree of that version; *python*: the interpreter of its environment."""

    source: Path
    python: str


def build(commit: str) -> Older:
    """Build the version of *commit*, unless it was built before.

    Raises NoHistory, and CalledProcessError if its packages cannot be installed.
    """
    source = _KEPT / commit
    if not (source / ".ready").exists():
        shutil.rmtree(source, ignore_errors=True)
        _extract(commit, source)
        _install(source)
        (source / ".ready").touch()
    return Older(source, str(source / ".venv" / "bin" / "python"))


def _extract(commit: str, source: Path) -> None:
    command = ["git", "-C", str(_ROOT), "archive", "--format=tar", commit]
    if shutil.which("git") is None:
        raise NoHistory
    archived = subprocess.run(command, check=False, capture_output=True)
    if archived.returncode:
        raise NoHistory
    source.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(archived.stdout)) as tree:
        tree.extractall(source, filter="data")


def _install(source: Path) -> None:
    python = str(source / ".venv" / "bin" / "python")
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    locked = ["--no-input", "--only-binary", ":all:", "--require-hashes", "-r", "locks/run.txt"]
    for command in (
        [sys.executable, "-m", "venv", ".venv"],
        [*pip, *locked],
        [str(python), "protos/build.py"],
        [*pip, "--no-deps", "--no-build-isolation", "--editable", "."],
    ):
        subprocess.run(command, cwd=source, check=True)
