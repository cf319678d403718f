"""A probe that takes over reads again what another reported after the stored checkpoint."""

import orjson
import pytest

from probe.checks._check import Kept
from probe.web3.agreement import agreed
from probe.web3.branches import RevertedBlocks
from probe.web3.checkpoint import CheckpointState
from probe.web3.line import MOST_AGAIN, begin
from probe.web3.places import PlaceFinding
from probe.web3.reader import Cursor, Step
from shared.findings import Findings
from tests.probe.web3.chain import Chain
from tests.probe.web3.zoo import Zoo


def take_over(zoo: Zoo, checkpoint: bytes) -> None:
    """Another probe goes on from that."""
    zoo.watch.kept = Kept(checkpoint)
    zoo.watch.restart()


def line(zoo: Zoo) -> list[object]:
    found: list[object] = orjson.loads(zoo.watch.kept.state)["more"]["line"]
    return found


def overs(zoo: Zoo) -> list[object]:
    found: list[object] = orjson.loads(zoo.watch.kept.state)["more"]["over"]
    return found


async def retracted(zoo: Zoo) -> int:
    """Check once: of how many ranges was said what stands?"""
    outcome = await zoo.watch.look()
    assert not outcome.error
    zoo.ledger.take(outcome.found)
    return sum(finding.found is Findings.RETRACTED for finding in outcome.found)


@pytest.mark.parametrize("confirmations", [0, 1])
async def test_what_another_told_on_its_way_and_a_fork_undid_is_taken_back(
    chain: Chain, zoo: Zoo, confirmations: int
) -> None:
    zoo.watch.change(zoo.kind(confirmations=confirmations))
    zoo.ring(1)
    chain.mine(confirmations)
    await zoo.check()
    kept = zoo.watch.kept.state
    zoo.ring(2, 3, 4)
    chain.mine(confirmations)
    assert await zoo.check() == ["2", "3", "4"]
    chain.rpc("anvil_reorg", 2 + confirmations, [])
    chain.mine(confirmations)
    take_over(zoo, kept)
    assert await zoo.check() == []
    assert len(zoo.ledger.gone) == 2
    zoo.settled()


async def test_what_another_read_farther_than_the_first_check_after_it_is_looked_at_too(
    chain: Chain, zoo: Zoo
) -> None:
    """The new holder waits for a block more: it sees the head, but does not read it yet."""
    kept = zoo.watch.kept.state
    zoo.ring(1, 2)
    assert await zoo.check() == ["1", "2"]
    chain.rpc("anvil_reorg", 1, [])
    zoo.watch.kind = zoo.kind(confirmations=1)
    take_over(zoo, kept)
    await zoo.check()
    assert not zoo.ledger.gone
    chain.mine()
    await zoo.check()
    assert len(zoo.ledger.gone) == 1
    assert await retracted(zoo) == 0
    zoo.settled()


async def test_who_goes_on_from_its_own_check_looks_at_nothing_twice(chain: Chain, zoo: Zoo) -> None:
    assert await retracted(zoo) == 0
    before = line(zoo)
    zoo.ring(1, 2)
    assert await retracted(zoo) == 0
    assert line(zoo) == before
    take_over(zoo, zoo.watch.kept.state)
    zoo.ring(3)
    assert await retracted(zoo) == 1
    after = line(zoo)
    assert after[0] != before[0]
    assert after[1] == chain.head
    zoo.ring(4)
    assert await retracted(zoo) == 0
    assert line(zoo) == after


async def test_what_one_finding_does_not_name_of_the_blocks_to_look_at_again_the_next_ones_do(
    chain: Chain, zoo: Zoo
) -> None:
    take_over(zoo, zoo.watch.kept.state)
    first = chain.head + 1
    chain.mine(600)
    named = []
    for _ in range(3):
        outcome = await zoo.watch.look()
        [said] = [
            orjson.loads(finding.data) for finding in outcome.found if finding.found is Findings.RETRACTED
        ]
        assert len(said["hashes"]) == said["last"] - said["first"] + 1 <= 256
        named += list(map(int, said["hashes"]))
    assert named == list(range(first, first + 600))
    chain.mine()
    assert await retracted(zoo) == 0


async def test_what_another_told_far_behind_the_checkpoint_that_was_kept_is_taken_back_too(
    chain: Chain, zoo: Zoo
) -> None:
    kept = zoo.watch.kept.state
    chain.mine(300)
    zoo.ring(1, 2, 3)
    assert await zoo.check() == ["1", "2", "3"]
    chain.rpc("anvil_reorg", 2, [])
    take_over(zoo, kept)
    for _ in range(2):
        await zoo.check()
    assert len(zoo.ledger.gone) == 2
    zoo.settled()


def test_farther_from_the_checkpoint_than_the_bound_nothing_is_looked_at_again() -> None:
    state = b'{"about": "%s", "more": {"cursor": [100, 0, [], null]}}'
    about = CheckpointState(Kept(), "chain").settle()[0] or b""
    standing = CheckpointState(Kept(state % orjson.loads(about)["about"].encode()), "chain")
    _, begun = begin(standing, None)
    assert begun.again == (100, 99 + MOST_AGAIN)
    assert begun.after(Step(Cursor(101), head=10**9)).last == 99 + MOST_AGAIN


async def test_a_line_remembers_which_blocks_a_fork_made_it_read_once_more_and_who_goes_on_does_too(
    chain: Chain, zoo: Zoo
) -> None:
    zoo.ring(1, 2, 3)
    await zoo.check()
    mine = line(zoo)
    assert overs(zoo) == []
    chain.rpc("anvil_reorg", 2, [])
    await zoo.check()
    assert overs(zoo) == [[mine[0], 1, zoo.first, chain.head]]
    assert line(zoo)[4] == 1
    take_over(zoo, zoo.watch.kept.state)
    zoo.ring(4)
    await zoo.check()
    assert line(zoo)[0] != mine[0]
    assert overs(zoo) == [[mine[0], 1, zoo.first, chain.head - 1]]


async def test_no_more_forks_are_remembered_than_a_checkpoint_has_room_for(chain: Chain, zoo: Zoo) -> None:
    state = orjson.loads(zoo.watch.kept.state)
    state["more"]["over"] = [["a", n, n, n] for n in range(100)]
    take_over(zoo, orjson.dumps(state))
    chain.mine()
    await zoo.check()
    assert overs(zoo) == [["a", n, n, n] for n in range(68, 100)]


def test_nodes_agree_on_what_stands_as_far_as_the_slower_came() -> None:
    hashes = tuple((number, f"0x{number:064x}") for number in range(5, 9))
    near: Step[PlaceFinding] = Step(Cursor(7), again=RevertedBlocks(5, 6, hashes[:2]))
    far: Step[PlaceFinding] = Step(Cursor(9), again=RevertedBlocks(5, 8, hashes))
    other: Step[PlaceFinding] = Step(
        Cursor(9), again=RevertedBlocks(5, 8, tuple((n, "0x") for n, _ in hashes))
    )
    assert agreed([near, far, other], 2) is near
    assert agreed([near, other], 2) is None
