"""Appends to the spool's current file and syncs it."""

import asyncio
import errno
import fcntl
import os
import threading
from pathlib import Path

from probe.spool.segments import Segment
from shared.errors import CannotStart


class SpoolAppender:
    """Owns the directory, by a lock that ends with the process, and the files that are not synced yet."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise CannotStart(f"cannot use {directory}: {error.strerror}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise CannotStart(f"another probe uses {directory}") from error
        self.current: Segment | None = None
        self._fd = -1
        self._retired: list[int] = []  # complete, closed once synced
        self._dirty = False
        self._closed = False
        self._working = threading.Lock()

    def begin(self, number: int) -> Segment:
        """Start a new segment, which is `current` until `rotate`."""
        path = self._directory / f"{number:012d}.seg"
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self.current = Segment(path)
        return self.current

    def write(self, record: bytes) -> None:
        """Append a record to the current segment; on an OSError, the segment is unchanged."""
        try:
            if os.write(self._fd, record) < len(record):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301 - as write() itself says it
        except OSError:
            if self.current:
                os.ftruncate(self._fd, self.current.size)
            raise
        self._dirty = True

    def rotate(self) -> None:
        """Close the current segment for writing."""
        if self.current:
            self._retired.append(self._fd)
            self.current, self._fd = None, -1

    async def sync(self) -> None:
        """Sync all that was written before this call, without blocking the loop."""
        if not self._dirty:
            return
        self._dirty = False
        retired, self._retired = self._retired, []
        try:
            await asyncio.to_thread(self._sync, [*retired, self._fd])
        except BaseException:
            # They are not synced or, if this was cancelled, its thread is still syncing them.
            self._dirty = True
            self._retired = [*retired, *self._retired]
            raise
        _close(retired)

    def close(self) -> None:
        """Sync everything and release the lock."""
        self.rotate()
        try:
            if self._dirty:
                self._sync(self._retired)
        finally:
            with self._working:
                self._closed = True
                _close([*self._retired, self._lock])

    def _sync(self, fds: list[int]) -> None:
        """Runs in a thread that may outlive the caller."""
        with self._working:
            if self._closed:
                return
            for fd in fds:
                if fd >= 0:
                    os.fdatasync(fd)
            # The names of new files are part of the directory's data.
            directory = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)


def _close(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)
