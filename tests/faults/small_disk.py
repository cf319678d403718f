"""A disk of a few megabytes in memory, which a test fills; only root can mount one."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(megabytes: int) -> Iterator[Path]:
    """An empty directory with ``var``, which is a disk of this size. Skips where none can be mounted."""
    if os.geteuid() != 0:
        pytest.skip("small disk: not root")
    # Reachable for the user as whom PostgreSQL runs: pytest's own directories are not.
    directory = Path(tempfile.mkdtemp(prefix="tocsin-disk-"))
    directory.chmod(0o711)
    disk = directory / "var"
    disk.mkdir()
    try:
        options = f"size={megabytes}m,mode=0711"
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], capture_output=True, check=False
        )
        if mounted.returncode:
            pytest.skip("small disk: tmpfs cannot be mounted here")
        try:
            yield directory
        finally:
            # A process that ends with the test may hold it for a moment longer.
            subprocess.run(["umount", "--lazy", disk], check=True)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def fill(disk: Path) -> Path:
    """Write until there is no room; the file, which gives it back when it is deleted."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(65_536))
        except OSError:
            return filler
