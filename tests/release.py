"""Checks that this tree can be released, and builds it: ``make release``. It publishes nothing.

The version is that of the changelog, two builds are equal, and what is installed from them in an empty place
starts, answers and stops. The files are left in dist/ with their hashes.
"""

import asyncio
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.error import URLError

from shared import __version__
from tests.ports import free_port

ROOT: Final = Path(__file__).parent.parent
DIST: Final = ROOT / "dist"
_BUILD: Final = (
    "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"
)
_TITLE: Final = re.compile(r"^## (.+)$", re.MULTILINE)
_STARTS_WITHIN_S: Final = 120.0
_STOPS_WITHIN_S: Final = 30.0


class NotReleasable(Exception):
    """Why the tree cannot be released."""


def main() -> int:
    """Check, build, install, start. Print each step, or why it failed."""
    try:
        _demand_sound(ROOT)
        _say(f"version {__version__} is the changelog's, and nothing is uncommitted")
        with tempfile.TemporaryDirectory() as directory:
            folder = Path(directory)
            wheel = _built(folder)
            _installed(wheel, folder / "venv")
            asyncio.run(_started(folder))
    except (NotReleasable, subprocess.CalledProcessError) as error:
        output = getattr(error, "stderr", None) or b""
        _say(f"not released: {error} {output.decode()[-2000:]}")
        return 1
    for file in sorted(DIST.iterdir()):
        _say(f"{_hash(file)}  {file.relative_to(ROOT)}")
    return 0


def _demand_sound(root: Path) -> None:
    if faults := list(faults_of(root)):
        raise NotReleasable("; ".join(faults))


def faults_of(root: Path) -> Iterator[str]:
    """Yield what the tree at *root* lacks: a version with its news, all of it committed."""
    version = _version(root)
    titles = _TITLE.findall((root / "CHANGELOG.md").read_text())
    if not titles or titles[0] != version:
        yield f"the changelog begins with {titles[0] if titles else 'nothing'}, and the version is {version}"
    changed = _output("git", "status", "--porcelain", cwd=root).splitlines()
    if changed:
        yield f"{len(changed)} files are not committed, such as {changed[0].strip()}"


def _version(root: Path) -> str:
    match = re.search(r'^__version__ = "([^"]+)"$', (root / "shared/__init__.py").read_text(), re.MULTILINE)
    if match is None:
        raise NotReleasable("shared/__init__.py has no version")
    return match[1]


def _built(folder: Path) -> Path:
    """Build the source distribution, and of it the wheel, twice; keep both in dist/. Return the wheel."""
    committed = _output("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
    environment = {**os.environ, "SOURCE_DATE_EPOCH": committed}
    wheels = [_once(folder / name, environment) for name in ("first", "second")]
    if _hash(wheels[0]) != _hash(wheels[1]):
        raise NotReleasable("two builds of the wheel differ")
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    for file in (wheels[0], next((folder / "first").glob("*.tar.gz"))):
        shutil.copy(file, DIST)
    _say(f"two builds of {wheels[0].name} are equal")
    return DIST / wheels[0].name


def _once(folder: Path, environment: Mapping[str, str]) -> Path:
    """Build both from a fresh copy of what is committed, the wheel from the source distribution."""
    tree, unpacked = folder / "tree", folder / "unpacked"
    tree.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", tree], input=archive, check=True)
    source = folder / _build("build_sdist", tree, folder, environment)
    shutil.unpack_archive(source, unpacked, filter="data")
    [tree_of_source] = unpacked.iterdir()
    return folder / _build("build_wheel", tree_of_source, folder, environment)


def _build(what: str, tree: Path, into: Path, environment: Mapping[str, str]) -> str:
    """Return the name of the file that was built."""
    command = [sys.executable, "-c", _BUILD, what, str(into)]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=True)
    return done.stdout.decode().split()[-1]


def _installed(wheel: Path, venv: Path) -> None:
    """Install the wheel into an empty environment, with what the lock pins."""
    python = venv / "bin" / "python"
    pip: list[str | Path] = [
        python,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--quiet",
        "install",
        "--no-input",
    ]
    locked = ["--only-binary", ":all:", "--require-hashes", "-r", str(ROOT / "locks/run.txt")]
    commands: list[list[str | Path]] = [
        [sys.executable, "-m", "venv", venv],
        [*pip, *locked],
        [*pip, "--no-deps", wheel],
    ]
    for command in commands:
        subprocess.run(command, cwd=venv.parent, capture_output=True, check=True)
    _say(f"installed in an empty environment: {_output(venv / 'bin' / 'tocsin', '--version').strip()}")


async def _started(folder: Path) -> None:
    """Start everything in an empty place; its pages must answer, and it must stop on SIGTERM."""
    listen = {name: f"127.0.0.1:{free_port()}" for name in ("HTTP_LISTEN", "GRPC_LISTEN", "OTLP_LISTEN")}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TOCSIN_", "PYTHON"))}
    settings = {f"TOCSIN_{name}": value for name, value in listen.items()}
    log = folder / "log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            folder / "venv" / "bin" / "tocsin", "up", "--demo",
            cwd=folder, env=kept | settings, stdout=output, stderr=output,
        )  # fmt: skip
    try:
        url = f"http://{listen['HTTP_LISTEN']}"
        await asyncio.to_thread(_answers, f"{url}/readyz")
        for path in ("/sign-in", "/docs", "/docs/monitors/http", "/v1/openapi.json"):
            await asyncio.to_thread(_answers, url + path)
    except TimeoutError as error:
        raise NotReleasable(f"{error}\n{log.read_text()[-2000:]}") from error
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        status = await asyncio.wait_for(process.wait(), _STOPS_WITHIN_S)
    if status != 0 or "Traceback" in log.read_text():
        raise NotReleasable(f"it ended with {status}\n{log.read_text()[-2000:]}")
    _say("started in an empty place; its console, documentation and API answered, and it stopped")


def _answers(url: str) -> None:
    """Wait until *url* answers well. Raises TimeoutError."""
    deadline = time.monotonic() + _STARTS_WITHIN_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10):
                return
        except (URLError, OSError):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{url} does not answer") from None
            time.sleep(0.2)


def _output(*command: str | Path, cwd: Path | None = None) -> str:
    return subprocess.run(command, cwd=cwd, capture_output=True, check=True, text=True).stdout


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
