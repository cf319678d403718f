"""``tocsin backup``: writes the whole database to one file, beside a running service or without one."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from collector.ops.cli.progress import shown
from collector.ops.storage import backup, dump
from collector.ops.storage.backup_file import BackupHeader, Trailer
from collector.platform.embedded import files
from collector.platform.embedded.server import reach
from collector.platform.interruptible import UNCHANGED, run
from shared.clock import iso, utc_now
from shared.command import begin_with
from shared.errors import CannotStart, Conflict
from shared.settings import DatabaseSettings

STDOUT: Final = Path("-")
Out = Callable[[bytes], object]


def main(argv: list[str]) -> int:
    """Write the file atomically and summarize it."""
    own, settings = begin_with(_parser(), DatabaseSettings, argv)
    with _to(own.file, overwrite=own.overwrite) as write, shown("written") as count:

        def out(data: bytes) -> None:
            write(data)
            count(len(data))

        header, trailer = run(_write(settings, out, recent_only=own.without_old_results), left=UNCHANGED)
    for line in described(header, trailer):
        print(line, file=sys.stderr if own.file == STDOUT else sys.stdout)
    return 0


def described(header: BackupHeader, trailer: Trailer) -> Iterator[str]:
    """A human-readable summary of a backup."""
    yield (
        f"{sum(trailer.rows.values())} rows of {len(trailer.rows)} tables, as of {iso(header.at)}, "
        f"by Tocsin {header.tocsin} with its database at version {len(header.migrations)}"
    )
    if header.results_since is not None:
        yield f"without single results from before {header.results_since}"
    if header.keys:
        yield f"its secrets stay sealed: restoring needs TOCSIN_SECRET_KEY with key {', '.join(header.keys)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tocsin backup",
        allow_abbrev=False,
        epilog="Its secrets stay encrypted, and it does not contain the key: keep that elsewhere.",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="target file; - is standard output")
    parser.add_argument("--overwrite", action="store_true", help="replace an existing FILE")
    parser.add_argument(
        "--without-old-results",
        action="store_true",
        help="include only the last two days of raw results, which make up most of a large database; "
        "configuration, incidents, outages and hourly and daily rollups are always complete",
    )
    return parser


async def _write(settings: DatabaseSettings, out: Out, *, recent_only: bool) -> tuple[BackupHeader, Trailer]:
    if settings.database_url is not None:
        return await _write_from(settings.database_url, out, recent_only=recent_only)
    files.url(settings.data_dir)  # must not create one
    async with reach(settings.data_dir) as url:
        return await _write_from(url, out, recent_only=recent_only)


async def _write_from(url: str, out: Out, *, recent_only: bool) -> tuple[BackupHeader, Trailer]:
    async with dump.connected(url, "tocsin backup") as connection:
        return await backup.write(connection, out, utc_now(), recent_only=recent_only)


@contextmanager
def _to(path: Path, *, overwrite: bool) -> Iterator[Out]:
    """A function that writes bytes; the file gets its name once all of them are on disk."""
    if path == STDOUT:
        yield _guarded(_stdout, "standard output")
        return
    with _writing(path):
        if path.exists() and not overwrite:
            raise _taken(path)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".part")
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                yield _guarded(file.write, path)
                file.flush()
                os.fsync(file.fileno())
            _settle(part, path, overwrite=overwrite)
        finally:
            part.unlink(missing_ok=True)


def _settle(part: Path, path: Path, *, overwrite: bool) -> None:
    if overwrite:
        part.replace(path)
    else:
        try:
            path.hardlink_to(part)
        except FileExistsError:
            raise _taken(path) from None
        except OSError:  # a filesystem without hard links
            part.rename(path)
    files.sync_dir(path.parent)


def _stdout(data: bytes) -> None:
    """Write to standard output without buffering, so that the reader gets everything."""
    left = memoryview(data)
    while left:
        left = left[os.write(sys.stdout.fileno(), left) :]


def _guarded(write: Out, where: Path | str) -> Out:
    """Distinguish errors of the file from errors of the database."""

    def guarded(data: bytes) -> None:
        with _writing(where):
            write(data)

    return guarded


@contextmanager
def _writing(where: Path | str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Conflict(f"{where} cannot be written: {error.strerror or error}") from error


def _taken(path: Path) -> CannotStart:
    return CannotStart(f"{path} is there already; --overwrite replaces it")
