"""``tocsin restore``: fills an empty database from a backup, in one transaction."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from collector.ops.cli.backup import described
from collector.ops.cli.progress import reading
from collector.ops.storage import backup_file, dump, restore
from collector.ops.storage.backup_file import BrokenBackup, VerifiedBackup
from collector.platform.embedded.server import reach
from collector.platform.interruptible import UNCHANGED, run
from collector.platform.seal import Keyring
from shared.clock import utc_now
from shared.command import begin_with
from shared.errors import CannotStart
from shared.settings import OperatorSettings


def main(argv: list[str]) -> int:
    """Read and check the whole file, then load it in one transaction and summarize it."""
    own, settings = begin_with(_parser(), OperatorSettings, argv)
    with _opened(own.file) as file:
        with reading(file, "read") as counted:
            checked = _checked(own.file, counted)
        done: list[str] = []
        if not own.check:
            restore.known_to_us(checked.header)
            _demand_keys(checked.header.keys, settings)
            with reading(file, "restored") as counted:
                done = run(_load(settings, own.file, counted, checked), left=UNCHANGED)
    for line in _lines(checked, done, check=own.check):
        print(line)  # noqa: T201 - the answer
    if own.check:
        restore.known_to_us(checked.header)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tocsin restore",
        allow_abbrev=False,
        epilog="Sign-ins, password links, and stored responses to repeated requests are not restored; "
        "tokens and probes revoked since the backup are valid again.",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="a file written by tocsin backup")
    parser.add_argument("--check", action="store_true", help="only read and summarize the file")
    return parser


def _lines(checked: VerifiedBackup, done: Sequence[str], *, check: bool) -> list[str]:
    return [
        "whole" if check else "restored",
        *described(checked.header, checked.trailer),
        *(f"applied {name}" for name in done),
    ]


def _opened(path: Path) -> BinaryIO:
    """Open the file. Raises CannotStart."""
    try:
        if path.exists() and not path.is_file():
            raise CannotStart(f"{path} is read twice, so it must be an ordinary file")
        return path.open("rb")
    except OSError as error:
        raise CannotStart(f"{path} cannot be read: {error.strerror or error}") from None


def _checked(path: Path, file: BinaryIO) -> VerifiedBackup:
    try:
        return backup_file.check(file)
    except BrokenBackup as error:
        raise _unusable(path, error) from None


def _demand_keys(needed: Sequence[str], settings: OperatorSettings) -> None:
    """Raise CannotStart if keys are missing, before anything is created."""
    held = settings.secret_key or _kept(settings.data_dir / "secret-key")
    ids = {kid.hex() for kid in Keyring.parse(held).keys} if held else set[str]()
    if missing := [kid for kid in needed if kid not in ids]:
        raise CannotStart(
            f"TOCSIN_SECRET_KEY lacks what the backup's secrets are sealed with: key {', '.join(missing)}; "
            "a database in a data directory has its key beside it, in secret-key"
        )


def _kept(path: Path) -> str | None:
    return path.read_text().strip() if path.exists() else None


async def _load(settings: OperatorSettings, path: Path, file: BinaryIO, checked: VerifiedBackup) -> list[str]:
    if settings.database_url is not None:
        return await _load_into(settings.database_url, path, file, checked)
    async with reach(settings.data_dir) as url:
        return await _load_into(url, path, file, checked)


async def _load_into(url: str, path: Path, file: BinaryIO, checked: VerifiedBackup) -> list[str]:
    async with dump.connected(url, "tocsin restore") as connection:
        try:
            return await restore.load(connection, file, checked, utc_now())
        except BrokenBackup as error:
            raise _unusable(path, error) from None


def _unusable(path: Path, error: BrokenBackup) -> CannotStart:
    return CannotStart(f"{path} cannot be restored: {error}; nothing was changed")
