"""What the spool loses of chains is known by assignment, and asked for again when a collector knows of it."""

import json
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from probe.checks._check import Kept, Missed
from probe.spool.missed import MOST_OWED, missed_in, owe, settle
from probe.spool.spool import Spool
from shared.findings import Finding, Findings
from shared.results import Outcome, Status
from shared.wire.convert import decode, encode
from tests.probe.test_spool import INC, Clock, fill, sealed


def log(block: int) -> Finding:
    return Finding(Findings.LOG, f"0x{block:064x}:0", orjson.dumps({"blockNumber": block}))


def gone(first: int, last: int) -> Finding:
    return Finding(Findings.RETRACTED, f"{first}-{last}", orjson.dumps({"first": first, "last": last}))


def telling(seq: int, *findings: Finding, assignment: int = 1) -> bytes:
    """A sealed batch whose second result of three found these."""
    batch = decode(sealed(INC, seq))
    return encode(replace(batch, found={1: findings}, assignment=[9, assignment, 9]))


def tell(spool: Spool, seq: int, *findings: Finding, assignment: int = 1) -> None:
    spool.append(INC, seq, 3, telling(seq, *findings, assignment=assignment))


def small(directory: Path, **more: object) -> Spool:
    return Spool(directory, max_bytes=8000, segment_bytes=2000, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "missed"),
    [
        pytest.param([log(7), log(5), log(9)], Missed(5), id="from the first log on"),
        pytest.param([gone(3, 8)], Missed(3, (3, 8)), id="what stands"),
        pytest.param([log(5), gone(6, 8), gone(1, 2)], Missed(1, (1, 8)), id="both"),
    ],
)
def test_a_batch_says_from_which_block_on_it_told(found: list[Finding], missed: Missed) -> None:
    assert missed_in(telling(1, *found)) == {1: missed}


@pytest.mark.parametrize(
    "found",
    [
        Finding(Findings.RAISED, "high_gas", b'{"current": "5"}'),
        Finding(Findings.LOG, "x", b"{"),
        Finding(Findings.LOG, "x", b"{}"),
        Finding(Findings.LOG, "x", b"[]"),
        Finding(Findings.RETRACTED, "x", b'{"first": null, "last": 5}'),
    ],
)
def test_what_names_no_block_misses_none(found: Finding) -> None:
    assert missed_in(telling(1, found)) == {}


def test_bytes_that_are_no_batch_miss_nothing() -> None:
    assert missed_in(b"\xff\xff\xff") == {}


def test_what_a_full_spool_drops_is_owed_once_the_collector_knows_of_it(tmp_path: Path) -> None:
    spool = small(tmp_path)
    tell(spool, 1, log(7), assignment=4)
    tell(spool, 2, log(8), gone(5, 6), assignment=4)
    tell(spool, 3, log(30), assignment=5)
    fill(spool, 4, 80)
    [lost] = spool.ledger.losses(INC)
    assert spool.ledger.owed == {}
    spool.acked(INC, lost.last_seq - 1)
    assert spool.ledger.owed == {}
    spool.acked(INC, lost.last_seq)
    assert spool.ledger.owed == {4: Missed(5, (5, 6)), 5: Missed(30)}
    spool.close()


def test_what_a_collector_has_is_not_owed(tmp_path: Path) -> None:
    spool = small(tmp_path)
    tell(spool, 1, log(7))
    spool.acked(INC, 1)
    fill(spool, 2, 80)
    spool.acked(INC, 80)
    assert spool.results_lost
    assert spool.ledger.owed == {}
    spool.close()


def test_a_restart_forgets_neither_what_was_lost_nor_what_is_owed(tmp_path: Path) -> None:
    spool = small(tmp_path)
    tell(spool, 1, log(7))
    fill(spool, 2, 80)
    spool.close()
    spool = small(tmp_path)
    spool.acked(INC, 80)
    assert spool.ledger.owed == {1: Missed(7)}
    spool.close()
    spool = small(tmp_path)
    assert spool.ledger.owed == {1: Missed(7)}
    spool.close()


def test_what_a_process_before_left_counts_when_it_is_too_old(tmp_path: Path) -> None:
    clock = Clock()
    spool = small(tmp_path, boot_us=clock)
    tell(spool, 1, log(7), gone(3, 4))
    spool.close()
    spool = small(tmp_path, boot_us=clock)
    clock.now_us += 73 * 3600 * 1_000_000
    spool._expire()
    [lost] = spool.ledger.losses(INC)
    assert lost.missed == {1: Missed(3, (3, 4))}
    spool.close()


def test_positions_of_a_version_that_knew_of_no_chains_are_read(tmp_path: Path) -> None:
    lost = {"first_seq": 1, "last_seq": 5, "results": 9, "reason": "spool full"}
    content = {"acked": {str(INC): 0}, "lost": {str(INC): [lost]}}
    (tmp_path / "positions.json").write_text(json.dumps(content))
    spool = small(tmp_path)
    assert [loss.results for loss in spool.ledger.losses(INC)] == [9]
    spool.close()


@pytest.mark.parametrize("owed", [{"1": 5}, {"x": [1, None]}, {"1": [1, [2]]}, [1], {"1": [1]}])
def test_positions_that_say_nonsense_of_chains_are_as_unreadable_as_others(
    tmp_path: Path, owed: object
) -> None:
    (tmp_path / "positions.json").write_text(json.dumps({"acked": {"5": 3}, "lost": {}, "owed": owed}))
    spool = small(tmp_path)
    assert spool.ledger.acked(5) == 0
    spool.close()


def next_goes_back_to(owed: dict[int, Missed], kept: Kept, outcome: Outcome) -> Missed | None:
    """After a result of assignment 1 was kept for the collector."""
    settle(owed, 1, kept, outcome)
    return kept.back


def test_it_is_owed_until_a_check_that_went_back_is_kept() -> None:
    owed, kept = {1: Missed(5), 2: Missed(9)}, Kept()
    good, bad = Outcome(Status.UP, state=b"{}"), Outcome(Status.DOWN)
    assert next_goes_back_to(owed, kept, good) == Missed(5)
    kept.heeded = Missed(5)
    assert next_goes_back_to(owed, kept, bad) == Missed(5)
    owe(owed, {1: Missed(3)})
    assert next_goes_back_to(owed, kept, good) == Missed(3)
    kept.heeded = Missed(3)
    assert next_goes_back_to(owed, kept, good) is None
    assert owed == {2: Missed(9)}


def test_no_more_is_owed_than_anybody_asks_for() -> None:
    owed: dict[int, Missed] = {}
    owe(owed, {number: Missed(5) for number in range(MOST_OWED + 3)})
    assert len(owed) == MOST_OWED
    assert 2 not in owed
