"""Logs that were lost on their way to a collector are read again and reported."""

import orjson

from probe.checks._check import Kept, Missed
from probe.web3.checkpoint import CheckpointState
from probe.web3.line import begin
from probe.web3.reader import Cursor
from shared.results import Outcome
from tests.probe.web3.chain import Chain
from tests.probe.web3.test_whale_wallet import BOB, TRANSFER, USD, told, wallet, watching
from tests.probe.web3.zoo import Zoo


async def lost(zoo: Zoo) -> Outcome:
    """A check of which nobody hears."""
    outcome = await zoo.watch.look()
    assert not outcome.error
    return outcome


def go_back(zoo: Zoo, first: int, gone: tuple[int, int] | None = None) -> None:
    zoo.watch.kept.back = Missed(first, gone)


def said(zoo: Zoo) -> tuple[str, int]:
    """The line, and where it began."""
    id_, first, *_ = orjson.loads(zoo.watch.kept.state)["more"]["line"]
    return id_, first


async def test_logs_that_were_lost_are_found_again_and_no_others_twice(chain: Chain, zoo: Zoo) -> None:
    zoo.ring(1)
    assert await zoo.check() == ["1"]
    zoo.ring(2, 3)
    first = chain.head - 1
    await lost(zoo)
    zoo.ring(4)
    assert await zoo.check() == ["4"]
    go_back(zoo, first)
    before = said(zoo)
    assert await zoo.check() == ["2", "3"]
    assert said(zoo) == before
    zoo.settled()


async def test_what_a_fork_undid_and_nobody_heard_of_is_taken_back(chain: Chain, zoo: Zoo) -> None:
    zoo.ring(1, 2, 3)
    assert await zoo.check() == ["1", "2", "3"]
    chain.rpc("anvil_reorg", 2, [])
    await lost(zoo)
    zoo.ring(4)
    await zoo.check()
    assert not zoo.ledger.gone
    go_back(zoo, chain.head - 2, (chain.head - 2, chain.head - 1))
    await zoo.check()
    assert len(zoo.ledger.gone) == 2
    zoo.settled()


async def test_a_check_that_failed_has_not_gone_back_yet(chain: Chain, zoo: Zoo) -> None:
    zoo.ring(1)
    first = chain.head
    await lost(zoo)
    go_back(zoo, first)
    zoo.watch.change(zoo.kind("http://127.0.0.1:9/"))
    go_back(zoo, first)
    assert await zoo.watch.fault()
    zoo.watch.change(zoo.kind())
    go_back(zoo, first)
    assert await zoo.check() == ["1"]


async def test_the_checkpoint_is_told_after_it_went_back_even_if_it_is_as_before(
    chain: Chain, zoo: Zoo
) -> None:
    zoo.ring(1)
    first = chain.head
    await lost(zoo)
    assert (await lost(zoo)).state is None
    go_back(zoo, first)
    outcome = await lost(zoo)
    assert outcome.state == zoo.watch.kept.state
    assert zoo.watch.kept.heeded == Missed(first)


async def test_a_wallet_counts_no_transfer_twice_that_is_read_again(chain: Chain) -> None:
    """All is reported once more, and the balance is changed by real transfers only."""
    token = chain.deploy("Token", ["uint8", "uint256"], [6, 10**15])
    watch = await watching(wallet(chain, token))
    chain.call(token, TRANSFER, BOB, 500 * USD)
    first = chain.head
    assert await told(watch) == (["500"], [])
    chain.call(token, TRANSFER, BOB, 60 * USD)
    watch.kept.back = Missed(first)
    assert await told(watch) == (["500"], [])
    watch.kept.back = None
    chain.call(token, TRANSFER, BOB, 99 * USD)
    assert await told(watch) == ([], [])
    for _ in range(2):
        chain.call(token, TRANSFER, BOB, 60 * USD)
    assert await told(watch) == ([], ["balance_change"])


def at(cursor: Cursor, missed: Missed | None, line: int = 50) -> tuple[Cursor | None, int]:
    """Where a check goes on from *cursor*, on a line that began there, and where that line begins then."""
    about = orjson.loads(CheckpointState(Kept(), "chain").settle()[0] or b"")["about"]
    more = {"cursor": cursor.plain(), "line": ["a", line, -1, -1, 0]}
    kept = Kept()
    kept.keep(orjson.dumps({"about": about, "raised": [], "more": more}))
    begun, made = begin(CheckpointState(kept, "chain"), missed)
    return begun, made.first


def test_it_goes_back_no_farther_than_it_must_and_never_ahead() -> None:
    known = ((90, "0x90"), (99, "0x99"))
    cursor = Cursor(100, 7, known)
    assert at(cursor, None) == (cursor, 50)
    assert at(cursor, Missed(95)) == (Cursor(95, known=known[:1]), 50)
    assert at(cursor, Missed(100)) == (Cursor(100, known=known), 50)
    assert at(cursor, Missed(120)) == (cursor, 50)
    assert at(cursor, Missed(20)) == (Cursor(20), 20)


def test_what_is_in_doubt_already_stays_so() -> None:
    doubt = Cursor(100, doubt=(80, 110))
    assert at(doubt, Missed(95, (90, 105))) == (Cursor(95, doubt=(80, 110)), 50)
    assert at(doubt, Missed(120, (120, 130))) == (Cursor(100, doubt=(80, 130)), 50)


def test_who_never_looked_has_nothing_to_go_back_to() -> None:
    assert begin(CheckpointState(Kept(), "chain"), Missed(5))[0] is None
