"""A chain restored from a copy, or a test chain started anew: said in words, then read on from its head."""

import orjson
import pytest

from shared.findings import Findings
from tests.probe.web3.between import between
from tests.probe.web3.chain import Chain, running
from tests.probe.web3.test_reader import narrow
from tests.probe.web3.zoo import Zoo


@pytest.fixture
async def restored(chain: Chain) -> Zoo:
    """A zoo on a chain that is short again: two events of its long past were reported."""
    with running(chain.id, "--number", "20000") as long:
        before, zoo = Zoo(long), Zoo(chain)
        assert before.address == zoo.address
        await before.check()
        before.ring(1, 2)
        assert await before.check() == ["1", "2"]
    zoo.watch, zoo.ledger = before.watch, before.ledger
    zoo.watch.change(zoo.kind())
    return zoo


async def test_after_some_checks_that_say_so_it_is_read_from_its_head(restored: Zoo) -> None:
    first = await restored.watch.fault()
    assert "is far behind block" in first
    assert "after 3 such checks its chain is taken to have begun anew" in first
    restored.ring(3)
    await restored.watch.fault()
    assert await restored.check() == []
    restored.ring(4)
    assert await restored.check() == ["4"]
    assert len(restored.ledger.gone) == 2
    assert len(restored.ledger.news) == 3


async def test_what_was_told_of_blocks_that_it_has_no_more_is_taken_back(restored: Zoo) -> None:
    for _ in range(2):
        await restored.watch.fault()
    outcome = await restored.watch.look()
    [said] = [orjson.loads(finding.data) for finding in outcome.found if finding.found is Findings.RETRACTED]
    assert said["first"] == restored.chain.head + 1
    assert said["hashes"] == {}
    restored.ledger.take(outcome.found)
    assert not restored.ledger.held


async def test_a_node_that_says_otherwise_in_between_is_believed(restored: Zoo) -> None:
    """So one of several that is good is enough, and one behind which several stand is given time."""
    with between(restored.chain) as node:
        far = {"number": "0xffffff"}
        restored.watch.change(restored.kind(node.url))
        for _ in range(2):
            await restored.watch.fault()
            await restored.watch.fault()
            node.twist = lambda method, _, said: {**said, **far} if isinstance(said, dict) else said
            await restored.watch.look()
            node.twist = narrow(100, 0, "")
        assert "is far behind" in await restored.watch.fault()
