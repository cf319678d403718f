"""Results go into batches without a hole, and soon: at once when they may change something."""

import asyncio
import time

import pytest

from probe.link.plan import Order, ProbeAssignment, prepare
from probe.schedule.runner import CheckRun
from probe.spool.batches import MAX_RESULTS, Batcher
from shared.findings import MAX_FINDINGS, Finding, Findings
from shared.phases import days_left, unpack
from shared.results import Outcome, Phases, Run, Status
from shared.wire.convert import MAX_STATE, Batch, decode

pytestmark = pytest.mark.races

GOOD = Outcome(Status.UP, 200, phases=Phases(connect_us=1000))


class Kept:
    """Where the batches of a test go."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.at: list[float] = []
        self._came = asyncio.Event()

    def __call__(self, incarnation: int, seq: int, results: int, data: bytes) -> None:
        batch = decode(data)
        assert (batch.incarnation, batch.seq, len(batch.monitor)) == (incarnation, seq, results)
        self.batches.append(batch)
        self.at.append(time.monotonic())
        self._came.set()

    def forget(self) -> None:
        self.batches.clear()
        self.at.clear()
        self._came.clear()

    async def first(self) -> float:
        """When the first batch came."""
        async with asyncio.timeout(5):
            await self._came.wait()
        return self.at[0]


def assigned(monitor: int = 7) -> ProbeAssignment:
    return prepare(
        Order(
            number=90, monitor=monitor, location=2, revision=4, type="tcp",
            config=b'{"host": "192.0.2.1", "port": 1}', interval_ms=60_000, timeout_ms=1000,
        )
    )  # fmt: skip


def ran(outcome: Outcome = GOOD, start_us: int = 5_000_000) -> CheckRun:
    return CheckRun(outcome, start_us, 1234)


def under_way(kept: Kept) -> Batcher:
    """A batcher after its first batch, which *kept* has forgotten."""
    batcher = Batcher(kept)
    batcher.add(assigned(), Run.SCHEDULED, ran(), urgent=False)
    batcher.seal()
    kept.forget()
    return batcher


async def test_a_result_is_told_whole() -> None:
    kept = Kept()
    batcher = Batcher(kept, boot_us=lambda: 6_000_000, wall_us=lambda: 10**15)
    failed = Outcome(Status.DOWN, 503, "status 503", Phases(dns_us=200), b"block 5")
    batcher.add(assigned(), Run.SCHEDULED, ran(), urgent=False)
    batcher.add(assigned(8), Run.RECHECK, ran(failed, 5_500_000), urgent=False)
    batcher.seal()
    [batch] = kept.batches
    assert batch.base_us + batch.start_us[0] == 5_000_000
    assert batch.base_us + batch.start_us[1] == 5_500_000
    assert batch.wall_us == 10**15 - 1_000_000
    assert (batch.monitor, batch.location, batch.assignment) == ([7, 8], [2, 2], [90, 90])
    assert (batch.revision, batch.run, batch.outcome) == ([4, 4], [1, 2], [1, 2])
    assert (batch.code, batch.duration_us) == ([200, 503], [1234, 1234])
    assert [unpack(packed) for packed in batch.phases] == [GOOD.phases, failed.phases]
    assert (batch.error, batch.errors, batch.state) == ([0, 1], ["status 503"], {1: b"block 5"})


async def test_the_days_that_a_certificate_had_left_when_it_was_seen_go_along() -> None:
    kept = Kept()
    batcher = Batcher(kept, boot_us=lambda: 6_000_000, wall_us=lambda: 10**15)
    seen_at = 10**9 - 1.0
    for ends in (seen_at + 2.5 * 86_400, seen_at - 0.5 * 86_400, None):
        outcome = Outcome(Status.UP, phases=Phases(tls_us=300), ends=ends)
        batcher.add(assigned(), Run.SCHEDULED, ran(outcome), urgent=False)
    batcher.seal()
    [batch] = kept.batches
    assert [days_left(packed) for packed in batch.phases] == [2, -1, None]


async def test_what_may_change_something_goes_out_at_once_with_what_came_before() -> None:
    kept = Kept()
    batcher = under_way(kept)
    batcher.add(assigned(), Run.SCHEDULED, ran(), urgent=False)
    start = time.monotonic()
    batcher.add(assigned(), Run.SCHEDULED, ran(), urgent=True)
    batcher.add(assigned(), Run.SCHEDULED, ran(), urgent=True)
    assert await kept.first() - start < 0.3
    assert len(kept.batches[0].monitor) == 3


async def test_the_first_results_of_a_probe_do_not_wait() -> None:
    kept = Kept()
    batcher = Batcher(kept)
    start = time.monotonic()
    batcher.add(assigned(), Run.SCHEDULED, ran(), urgent=False)
    batcher.add(assigned(8), Run.SCHEDULED, ran(), urgent=False)
    assert await kept.first() - start < 0.3
    assert kept.batches[0].monitor == [7, 8]


async def test_the_rest_waits_for_company_but_not_for_long() -> None:
    kept = Kept()
    batcher = under_way(kept)
    start = time.monotonic()
    batcher.add(assigned(), Run.SCHEDULED, ran(), urgent=False)
    assert 0.4 < await kept.first() - start < 2


async def test_a_full_batch_is_sealed_and_numbers_have_no_hole() -> None:
    kept = Kept()
    batcher = Batcher(kept)
    for _ in range(2 * MAX_RESULTS + 1):
        batcher.add(assigned(), Run.SCHEDULED, ran(), urgent=False)
    batcher.seal()
    batcher.seal()
    assert [len(batch.monitor) for batch in kept.batches] == [MAX_RESULTS, MAX_RESULTS, 1]
    assert [batch.seq for batch in kept.batches] == [1, 2, 3]


async def test_a_batch_of_large_states_stays_well_below_the_limit_of_a_message() -> None:
    kept = Kept()
    batcher = Batcher(kept)
    large = Outcome(Status.UP, state=bytes(MAX_STATE))
    for _ in range(100):
        batcher.add(assigned(), Run.SCHEDULED, ran(large), urgent=False)
    batcher.seal()
    assert sum(len(batch.monitor) for batch in kept.batches) == 100
    assert all(sum(map(len, batch.state.values())) <= 2 * 1024 * 1024 for batch in kept.batches)


async def test_an_error_is_carried_once_and_made_fit() -> None:
    kept = Kept()
    batcher = Batcher(kept)
    for text in ("refused", "x" * 2000, "refused", "a\0b\ud800"):
        batcher.add(assigned(), Run.SCHEDULED, ran(Outcome(Status.DOWN, error=text)), urgent=False)
    batcher.seal()
    [batch] = kept.batches
    assert batch.error == [1, 2, 1, 3]
    assert batch.errors == ["refused", "x" * 512, "a?b?"]


async def test_a_new_incarnation_begins_at_one() -> None:
    kept = Kept()
    batcher = Batcher(kept)
    batcher.add(assigned(), Run.SCHEDULED, ran(), urgent=False)
    before = batcher.incarnation
    batcher.renew()
    batcher.add(assigned(), Run.SCHEDULED, ran(), urgent=False)
    batcher.seal()
    assert [(batch.incarnation, batch.seq) for batch in kept.batches] == [
        (before, 1),
        (batcher.incarnation, 1),
    ]
    assert before != batcher.incarnation


async def test_what_was_found_goes_out_at_once_and_with_its_checkpoint() -> None:
    quiet, kept = Kept(), Kept()
    under_way(quiet).add(assigned(), Run.SCHEDULED, ran(), urgent=False)
    log = Finding(Findings.LOG, "0xab:1", b"{}")
    finder = Outcome(Status.UP, found=[log], state=b"5")
    under_way(kept).add(assigned(), Run.SCHEDULED, ran(finder), urgent=False)

    assert await kept.first() < await quiet.first()
    [batch] = kept.batches
    assert (batch.found, batch.state) == ({0: (log,)}, {0: b"5"})


async def test_what_is_too_much_to_be_told_moves_no_checkpoint() -> None:
    kept = Kept()
    batcher = Batcher(kept)
    logs = [Finding(Findings.LOG, "0xab:1", b"{}")] * (MAX_FINDINGS + 1)
    batcher.add(assigned(), Run.SCHEDULED, ran(Outcome(Status.UP, found=logs, state=b"5")), urgent=False)
    batcher.seal()

    [batch] = kept.batches
    assert (batch.found, batch.state) == ({}, {})
