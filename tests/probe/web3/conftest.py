"""Chains that tests read, gone at their ends."""

from collections.abc import Iterator

import pytest

from tests.probe.web3.chain import Chain, running
from tests.probe.web3.zoo import Zoo


@pytest.fixture
def chain() -> Iterator[Chain]:
    with running() as chain:
        yield chain


@pytest.fixture
async def zoo(chain: Chain) -> Zoo:
    zoo = Zoo(chain)
    await zoo.check()
    return zoo
