"""The spool keeps what it took, tells what it lost, and opens whatever happened to its files."""

import asyncio
import contextlib
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from probe.spool.replay import ReplayReader
from probe.spool.segments import Sealed
from probe.spool.spool import Spool
from shared.errors import CannotStart
from shared.wire.convert import Batch, Gap, decode, encode

pytestmark = pytest.mark.races

ROOT = Path(__file__).parents[2]
INC = -42
HOUR_US = 3600 * 1_000_000


class Clock:
    def __init__(self) -> None:
        self.now_us = 10**15

    def __call__(self) -> int:
        return self.now_us


def sealed(incarnation: int, seq: int, results: int = 3) -> bytes:
    ones = [1] * results
    return encode(
        Batch(
            incarnation, seq, seq, "boot", 10**9, 10**15,
            monitor=[seq] * results, location=ones, assignment=ones, revision=ones, run=ones,
            start_us=ones, duration_us=ones, outcome=ones, code=ones,
            phases=[b"12345678"] * results, error=[0] * results,
        )
    )  # fmt: skip


def fill(spool: Spool, first: int, last: int, incarnation: int = INC, results: int = 3) -> None:
    for seq in range(first, last + 1):
        spool.append(incarnation, seq, results, sealed(incarnation, seq, results))


def rest(reader: ReplayReader) -> Iterator[Sealed]:
    while record := reader.next():
        yield record
    reader.close()


def read(spool: Spool, seq: int = 0, incarnation: int = INC) -> list[tuple[int, int, Gap | None]]:
    """First seq, seq and gap of each batch, proven to be what the spool says it is."""
    found = []
    for record in rest(spool.read_after(incarnation, seq)):
        batch = decode(record.data)
        assert (batch.incarnation, batch.first_seq, batch.seq) == (incarnation, record.first_seq, record.seq)
        assert batch.gap or batch.monitor == [record.seq] * record.results
        found.append((batch.first_seq, batch.seq, batch.gap))
    return found


def whole(found: list[tuple[int, int, Gap | None]], last: int, first: int = 1) -> bool:
    """No hole and no repetition from *first* to *last*."""
    ends = [first - 1, *(seq for _, seq, _ in found)]
    starts = [begin for begin, _, _ in found]
    return starts == [end + 1 for end in ends[:-1]] and ends[-1] == last


def lost(found: list[tuple[int, int, Gap | None]]) -> int:
    return sum(gap.results for _, _, gap in found if gap)


def segments(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.seg"))


class Opener:
    """Opens the spool in one directory, again and again, as one process after the other would."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._spool: Spool | None = None

    def __call__(self, **options: object) -> Spool:
        self.close()
        self._spool = Spool(self._directory, **options)  # type: ignore[arg-type]
        return self._spool

    def close(self) -> None:
        if self._spool:
            self._spool.close()
        self._spool = None


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opener]:
    opener = Opener(tmp_path)
    yield opener
    opener.close()


def test_batches_come_back_in_order_after_a_restart(opened: Opener) -> None:
    fill(opened(segment_bytes=2000), 1, 100)
    spool = opened()
    assert spool.ranges() == [(INC, 1, 100)]
    assert read(spool) == [(seq, seq, None) for seq in range(1, 101)]
    assert read(spool, 90) == [(seq, seq, None) for seq in range(91, 101)]


def test_incarnations_are_named_oldest_first_those_that_are_lost_included(opened: Opener) -> None:
    clock = Clock()
    spool = opened(max_bytes=16_000, segment_bytes=4_000, wall_us=clock, boot_us=clock)
    ages = [7, -9, 3, -1, 8, 2]
    for incarnation in ages:
        fill(spool, 1, 25, incarnation)
    assert {incarnation for incarnation, _, _ in spool.ranges()} == set(ages)
    assert len(spool.ledger.incarnations()) > 1
    assert [incarnation for incarnation, _, _ in spool.ranges()] == ages
    assert [incarnation for incarnation, _, _ in opened().ranges()] == ages


def test_a_reader_goes_on_with_what_is_appended_later(opened: Opener) -> None:
    spool = opened(segment_bytes=2000)
    reader = spool.read_after(INC, 0)
    assert reader.next() is None
    for seq in range(1, 50):
        fill(spool, seq, seq)
        record = reader.next()
        assert record
        assert record.seq == seq
        assert reader.next() is None
    reader.close()


def test_incarnations_are_read_apart(opened: Opener) -> None:
    spool = opened(segment_bytes=4000)
    for seq in range(1, 40):
        fill(spool, seq, seq)
        fill(spool, seq, seq, incarnation=77)
    assert whole(read(spool), 39)
    assert whole(read(spool, incarnation=77), 39)


def test_a_killed_writer_loses_nothing_that_it_said_it_wrote(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.probe.test_spool import *\n"
        "spool = Spool(Path(sys.argv[1]), segment_bytes=3000)\n"
        "for seq in range(1, 1000000):\n"
        "    fill(spool, seq, seq); print(seq, flush=True)\n"
    )
    chance = random.Random(5)
    for round_ in range(4):
        directory = tmp_path / str(round_)
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(directory)], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert child.stdout
        said = int(child.stdout.readline())
        time.sleep(chance.uniform(0.02, 0.2))
        child.send_signal(signal.SIGKILL)
        tail = child.stdout.read().split("\n")
        child.wait()
        child.stdout.close()
        said = max(said, *(int(line) for line in tail[:-1]))
        spool = Spool(directory)
        [(_, first, last)] = spool.ranges()
        assert first == 1
        assert said <= last <= said + 1
        assert whole(read(spool), last)
        assert not any(gap for _, _, gap in read(spool))
        spool.close()


def test_a_second_probe_on_the_directory_is_refused(opened: Opener, tmp_path: Path) -> None:
    opened()
    with pytest.raises(CannotStart):
        Spool(tmp_path)


def test_a_directory_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart):
        Spool(tmp_path / "file" / "spool")


def test_a_torn_tail_is_cut_off(opened: Opener, tmp_path: Path) -> None:
    fill(opened(), 1, 10)
    opened.close()
    [path] = segments(tmp_path)
    os.truncate(path, path.stat().st_size - 5)
    spool = opened()
    assert whole(read(spool), 9)
    fill(spool, 1, 5, incarnation=8)
    spool = opened()
    assert whole(read(spool), 9)
    assert whole(read(spool, incarnation=8), 5)


@pytest.mark.parametrize("seed", range(40))
def test_damage_never_stops_the_spool_nor_gives_a_wrong_batch(
    opened: Opener, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    fill(opened(segment_bytes=3000), 1, 60)
    opened.close()
    for _ in range(chance.randint(1, 5)):
        path = chance.choice(segments(tmp_path)[:-1])
        content = bytearray(path.read_bytes())
        if not content:
            continue
        if chance.random() < 0.3:
            content = content[: chance.randrange(len(content))]
        else:
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
    spool = opened()
    found = read(spool)
    assert whole(found, 60)
    batches = sum(1 for _, _, gap in found if gap is None)
    assert lost(found) == 3 * (60 - batches)
    assert all(gap is None or gap.reason for _, _, gap in found)
    fill(spool, 61, 70)
    assert whole(read(opened()), 70)


def test_damage_under_a_running_reader_becomes_a_gap(opened: Opener, tmp_path: Path) -> None:
    spool = opened(segment_bytes=3000)
    fill(spool, 1, 60)
    reader = spool.read_after(INC, 0)
    assert reader.next()
    path = segments(tmp_path)[1]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    segments(tmp_path)[2].unlink()
    found = [(record.first_seq, record.seq, decode(record.data).gap) for record in rest(reader)]
    assert whole(found, 60, first=2)
    assert lost(found) == 3 * (59 - sum(1 for _, _, gap in found if gap is None))
    assert list(tmp_path.glob("*.damaged"))


def test_too_much_drops_the_oldest_and_tells_how_many(opened: Opener, tmp_path: Path) -> None:
    options = {"max_bytes": 40_000, "segment_bytes": 4000}
    spool = opened(**options)
    fill(spool, 1, 1000)
    assert sum(path.stat().st_size for path in segments(tmp_path)) <= 40_000
    assert spool.bytes <= 40_000
    found = read(spool)
    assert whole(found, 1000)
    assert found[0][2]
    assert found[0][2].reason == "spool full"
    assert lost(found) == spool.results_lost == 3 * (1000 - len([1 for _, _, gap in found if not gap]))


async def test_what_was_dropped_is_told_after_a_restart(opened: Opener) -> None:
    options = {"max_bytes": 40_000, "segment_bytes": 4000}
    spool = opened(**options)
    fill(spool, 1, 1000)
    spool.acked(INC, 100)
    before = lost(read(spool, 0))
    spool = opened(**options)
    assert lost(read(spool, 0)) == before
    assert spool.ranges()[0][1] == 1
    assert spool.ranges()[0][2] == 1000


def test_what_was_told_is_not_told_again_with_more(opened: Opener) -> None:
    spool = opened(max_bytes=40_000, segment_bytes=4000)
    fill(spool, 1, 500)
    reader = spool.read_after(INC, 0)
    sealed = reader.next()
    assert sealed
    fill(spool, 501, 1000)
    found = [(record.first_seq, record.seq, decode(record.data).gap) for record in rest(reader)]
    assert whole(found, 1000, first=sealed.seq + 1)
    assert sealed.results + lost(found) == spool.results_lost


async def test_acknowledged_batches_go_first_when_there_is_no_room(opened: Opener) -> None:
    spool = opened(max_bytes=40_000, segment_bytes=4000)
    fill(spool, 1, 20, incarnation=1)
    fill(spool, 1, 60, incarnation=2)
    spool.acked(2, 60)
    fill(spool, 1, 80, incarnation=3)
    assert whole(read(spool, incarnation=1), 20)
    assert spool.results_lost == 0


async def test_acknowledged_batches_stay_for_a_day(opened: Opener, tmp_path: Path) -> None:
    boot, wall = Clock(), Clock()
    spool = opened(segment_bytes=2000, boot_us=boot, wall_us=wall)
    fill(spool, 1, 30)
    spool.acked(INC, 30)
    boot.now_us += 23 * HOUR_US
    wall.now_us += 23 * HOUR_US
    await spool.turn()
    assert whole(read(spool), 30)
    spool = opened(boot_us=boot, wall_us=wall)
    spool.confirm(wall.now_us)
    boot.now_us += 2 * HOUR_US
    await spool.turn()
    assert not segments(tmp_path)
    assert spool.ranges() == []


async def test_results_that_nobody_took_are_given_up_when_too_old(opened: Opener) -> None:
    boot = Clock()
    spool = opened(segment_bytes=2000, boot_us=boot)
    fill(spool, 1, 30)
    boot.now_us += 80 * HOUR_US
    await spool.turn()
    [(first, last, gap)] = read(spool)
    assert (first, last) == (1, 30)
    assert gap == Gap(90, "too old")


async def test_a_step_of_the_wall_clock_makes_nothing_old(opened: Opener) -> None:
    wall = Clock()
    spool = opened(segment_bytes=2000, wall_us=wall)
    fill(spool, 1, 30)
    wall.now_us += 10_000 * HOUR_US
    await spool.turn()
    assert not any(gap for _, _, gap in read(spool))


async def test_positions_survive_a_restart(opened: Opener) -> None:
    spool = opened(segment_bytes=2000)
    fill(spool, 1, 30)
    assert spool.unacked == 30
    spool.acked(INC, 20)
    await spool.turn()
    assert opened().unacked == 10


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"acked": {"x": 1}, "lost": {}}', b'{"acked": 3}'])
async def test_positions_that_cannot_be_read_lose_nothing(
    opened: Opener, tmp_path: Path, content: bytes
) -> None:
    fill(opened(), 1, 30)
    (tmp_path / "positions.json").write_bytes(content)
    assert whole(read(opened()), 30)


async def test_a_collector_set_back_is_made_whole(opened: Opener) -> None:
    spool = opened(segment_bytes=2000)
    fill(spool, 1, 30)
    spool.acked(INC, 30)
    spool.acked(INC, 12)
    assert whole(read(spool, 12), 30, first=13)
    assert spool.unacked == 18


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """Files cannot grow beyond a little; a write that crosses it is cut short, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def in_child(scene: str, directory: Path) -> None:
    """Run *scene* in a process of its own: the limit would hit pytest's files too."""
    code = (
        f"import sys, asyncio; from tests.probe.test_spool import *; asyncio.run({scene}(Path(sys.argv[1])))"
    )
    subprocess.run([sys.executable, "-c", code, str(directory)], check=True, cwd=ROOT, stdout=subprocess.PIPE)


async def disk_full_for_a_while(directory: Path) -> None:
    spool = Spool(directory, segment_bytes=2000)
    fill(spool, 1, 10)
    with full_disk():
        fill(spool, 11, 40)
        await spool.turn()
        assert whole(read(spool), 40)
    await spool.turn()
    spool.close()
    spool = Spool(directory)
    assert read(spool) == [(seq, seq, None) for seq in range(1, 41)]


def test_a_full_disk_keeps_batches_in_memory_until_it_has_room(tmp_path: Path) -> None:
    in_child("disk_full_for_a_while", tmp_path)


async def disk_full_for_long(directory: Path) -> None:
    spool = Spool(directory, segment_bytes=2000, memory_bytes=5000)
    fill(spool, 1, 10)
    with full_disk():
        fill(spool, 11, 200)
        found = read(spool)
        assert whole(found, 200)
        assert (
            lost(found)
            == spool.results_lost
            == 3 * sum(last - first + 1 for first, last, gap in found if gap)
        )
        assert found[0][2]
        assert spool.bytes <= 5000 + 2000
    await spool.turn()
    fill(spool, 201, 210)
    spool.close()
    spool = Spool(directory, segment_bytes=2000)
    again = read(spool)
    assert whole(again, 210)
    assert lost(again) == lost(found)


def test_a_disk_that_stays_full_drops_the_oldest_and_counts(tmp_path: Path) -> None:
    in_child("disk_full_for_long", tmp_path)


async def test_a_disk_that_is_slow_with_the_positions_holds_up_no_check(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    fill(spool, 1, 1)
    spool.acked(INC, 1)
    stuck = tmp_path / "positions.new"
    os.mkfifo(stuck)  # whoever opens it waits for the other side
    at_last = threading.Timer(20, stuck.read_bytes)  # should the loop wait for the disk
    at_last.start()
    turning = asyncio.create_task(spool.turn())
    for _ in range(30):
        await asyncio.sleep(0.01)
    waited_alone = not turning.done()
    at_last.cancel()
    if waited_alone:
        await asyncio.to_thread(stuck.read_bytes)
    await turning
    spool.close()
    assert waited_alone
