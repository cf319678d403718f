"""What passes costs the spool nothing: no descriptors, a disk that fails once, a clock that is ahead."""

import asyncio
import errno
import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from probe.spool.appender import SpoolAppender
from probe.spool.replay import ReplayReader
from probe.spool.spool import Spool
from tests.probe.test_spool import HOUR_US, INC, Clock, fill, lost, read, whole

DAY_US = 24 * HOUR_US


@contextmanager
def no_descriptors() -> Iterator[None]:
    """Nothing can be opened in here."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    try:
        while True:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    try:
        yield
    finally:
        for each in held:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def stuck(reader: ReplayReader) -> bool:
    return reader.stuck


def test_a_probe_out_of_descriptors_loses_nothing(tmp_path: Path) -> None:
    spool = Spool(tmp_path, segment_bytes=2000)
    fill(spool, 1, 40)
    reader = spool.read_after(INC, 0)
    assert reader.next() is not None
    reader.close()

    with no_descriptors():
        assert [reader.next() for _ in range(5)] == [None] * 5
        assert stuck(reader)

    assert spool.ranges() == [(INC, 1, 40)]
    assert [sealed.seq for sealed in iter(reader.next, None)] == list(range(2, 41))
    assert not stuck(reader)
    everything = read(spool)
    assert whole(everything, 40)
    assert not lost(everything)
    spool.close()


@pytest.mark.parametrize("code", [errno.EIO, errno.ENFILE, errno.ENOMEM, errno.EINTR])
def test_a_fault_that_passes_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    spool = Spool(tmp_path, segment_bytes=2000)
    fill(spool, 1, 10)
    reader = spool.read_after(INC, 0)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pread", _failing(code))
        assert [reader.next() for _ in range(5)] == [None] * 5

    assert [sealed.seq for sealed in iter(reader.next, None)] == list(range(1, 11))
    spool.close()


def test_what_stays_unreadable_is_told_as_lost_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path, segment_bytes=2000)
    fill(spool, 1, 20)
    first = min(tmp_path.glob("*.seg"))
    opened = os.open
    monkeypatch.setattr(
        os, "open", lambda path, *rest: _fail(errno.EIO) if path == first else opened(path, *rest)
    )
    monkeypatch.setattr(Path, "read_bytes", _failing(errno.EIO))
    reader = spool.read_after(INC, 0)

    tries = 0
    while (sealed := reader.next()) is None:
        tries += 1
        assert tries < 1000
    assert (sealed.first_seq, tries > 10) == (1, True)
    assert _goes_on(reader, sealed.seq)
    monkeypatch.undo()
    spool.close()


def _goes_on(reader: ReplayReader, seq: int) -> bool:
    following = reader.next()
    return following is not None and following.first_seq == seq + 1


def _fail(code: int) -> int:
    raise OSError(code, os.strerror(code))


def _failing(code: int) -> object:
    return lambda *_: _fail(code)


async def test_a_clock_that_is_ahead_at_the_start_drops_nothing(tmp_path: Path) -> None:
    boot, wall = Clock(), Clock()
    spool = Spool(tmp_path, segment_bytes=2000, boot_us=boot, wall_us=wall)
    fill(spool, 1, 10)
    spool.close()
    true_us, wall.now_us = wall.now_us, wall.now_us + 9 * DAY_US

    spool = Spool(tmp_path, segment_bytes=2000, boot_us=boot, wall_us=wall)
    await spool.turn()
    assert whole(read(spool), 10), "nobody has confirmed that it is so late"
    spool.confirm(true_us + HOUR_US)
    await spool.turn()
    assert not lost(read(spool))
    spool.close()

    spool = Spool(tmp_path, segment_bytes=2000, boot_us=boot, wall_us=wall)
    spool.confirm(wall.now_us)
    await spool.turn()
    assert lost(read(spool)) == 30, "now both clocks say that it is old"
    spool.close()


async def test_what_failed_to_be_made_safe_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = SpoolAppender(tmp_path)
    files.begin(1)
    files.write(b"record")
    files.rotate()
    synced: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", _failing(errno.EIO))
        with pytest.raises(OSError, match="Input/output"):
            await files.sync()
    monkeypatch.setattr(os, "fdatasync", synced.append)
    await files.sync()

    assert len(synced) == 1, "without another write"
    files.close()


async def test_descriptors_stay_open_for_a_sync_that_nobody_waits_for_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = SpoolAppender(tmp_path)
    files.begin(1)
    files.write(b"record")
    began, go_on, faults = threading.Event(), threading.Event(), list[OSError]()

    def slow(fd: int) -> None:
        began.set()
        go_on.wait(10)
        try:
            os.fstat(fd)
        except OSError as error:
            faults.append(error)

    monkeypatch.setattr(os, "fdatasync", slow)
    syncing = asyncio.create_task(files.sync())
    await asyncio.to_thread(began.wait)
    syncing.cancel()
    await asyncio.wait({syncing})
    closing = asyncio.create_task(asyncio.to_thread(files.close))
    go_on.set()
    await closing

    assert faults == []
