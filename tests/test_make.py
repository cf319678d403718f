"""What make does on a machine as it is found: no environment yet, a half-made one, one that was moved."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
AGAIN = "-m venv --clear .venv"

pytestmark = [pytest.mark.races, pytest.mark.skipif(shutil.which("make") is None, reason="needs make")]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What make looks at, in a directory with a space."""
    place = tmp_path / "a clone"
    for name in ("Makefile", "pyproject.toml", "setup.py", "locks", "protos"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        place.mkdir(exist_ok=True)
        copy(ROOT / name, place / name)
    return place


def make(at: Path, *arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    where = {"PATH": f"{path}:{os.environ['PATH']}"} if path is not None else {}
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *arguments],
        cwd=at,
        env=environment | where,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def environment(at: Path, *, of: Path) -> None:
    """As venv leaves it, made when the clone was *of*; and installed into."""
    programs = at / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    (programs / "pip").write_text(f'#!/bin/sh\n\'\'\'exec\' "{of}/.venv/bin/python3" "$0" "$@"\n')
    (at / ".venv" / ".ready-run").touch()


def program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_make_alone_says_what_there_is_and_does_nothing(clone: Path) -> None:
    process = make(clone)

    assert process.returncode == 0
    assert process.stdout == make(clone, "help").stdout
    targets = {line.split()[1] for line in process.stdout.splitlines()}
    assert {"run", "test", "setup", "test-fast", "tools", "image", "lint", "type"} <= targets
    assert not (clone / ".venv").exists()


def test_a_sound_environment_is_kept(clone: Path) -> None:
    environment(clone, of=clone)

    assert AGAIN not in make(clone, "--dry-run", "run").stdout


@pytest.mark.parametrize("fault", ["absent", "half-made", "moved", "python gone"])
def test_an_environment_that_does_not_work_is_made_again(clone: Path, fault: str) -> None:
    if fault != "absent":
        environment(clone, of=clone.parent / "elsewhere" if fault == "moved" else clone)
    if fault == "half-made":
        (clone / ".venv" / "bin" / "pip").unlink()
    if fault == "python gone":
        (clone / ".venv" / "bin" / "python").unlink()
        (clone / ".venv" / "bin" / "python").symlink_to(clone / "python-of-long-ago")

    text = make(clone, "--dry-run", "run").stdout

    assert AGAIN in text
    assert text.index(AGAIN) < text.index("-r locks/run.txt")


def test_an_environment_that_cannot_be_made_leaves_nothing(clone: Path) -> None:
    """As on Debian without python3-venv, which makes half of it and fails."""
    python = program(
        clone / "python", 'test "$1" = -c && exit 0\nmkdir -p .venv/bin; touch .venv/bin/python\nexit 1'
    )

    assert make(clone, "run", f"PYTHON='{python}'").returncode != 0
    assert not (clone / ".venv").exists()


def test_tools_that_npm_did_not_fetch_are_missed_at_once(clone: Path) -> None:
    """Where Node.js is too old for an optional package npm leaves that out and is content."""
    programs = clone / "programs"
    programs.mkdir()
    program(programs / "npm", "mkdir -p .tools; exit 0")

    process = make(clone, "tools", path=programs)

    assert process.returncode != 0
    assert "npm did not fetch @foundry-rs/anvil-linux-" in process.stdout
    assert not (clone / ".tools" / ".ready").exists()
