"""Follows a chain's branch, and finds which earlier blocks a fork has removed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import orjson

from probe.web3.nodes import ChainView
from probe.web3.patience import header, patiently
from probe.web3.rpc import Call
from shared.findings import Finding, Findings

# Number of blocks whose hashes fit into a finding, and into a request.
MOST_NAMED: Final = 256
_AT_ONCE: Final = 50


@dataclass(frozen=True, slots=True)
class RevertedBlocks:
    """Of blocks *first* to *last*, only those with these *hashes* (by number) still stand."""

    first: int
    last: int
    hashes: tuple[tuple[int, str], ...]

    def begins(self, other: "RevertedBlocks | None") -> bool:
        """Whether *other* is equal, or continues this one."""
        return other is not None and (other.first, other.hashes[: len(self.hashes)]) == (
            self.first,
            self.hashes,
        )


def retraction(gone: RevertedBlocks) -> Finding:
    """The finding that retracts the logs of some blocks, except in those with these hashes."""
    told = {"first": gone.first, "last": gone.last, "hashes": {str(n): h for n, h in gone.hashes}}
    return Finding(Findings.RETRACTED, f"{gone.first}-{gone.last}", orjson.dumps(told))


async def standing(view: ChainView, first: int, last: int) -> RevertedBlocks:
    """The current hashes of blocks *first* to *last*, as many of them as fit."""
    numbers = range(first, min(last, first + MOST_NAMED - 1) + 1)
    found = await hashes(view, numbers)
    return RevertedBlocks(first, numbers[-1], tuple(zip(numbers, found, strict=True)))


async def hashes(view: ChainView, numbers: Sequence[int]) -> list[str]:
    """The hashes of the blocks *numbers*. Raises NodeFault if the node lacks one."""
    found: list[str] = []
    for at in range(0, len(numbers), _AT_ONCE):
        found += await patiently(view, partial(_some, view, numbers[at : at + _AT_ONCE]))
    return found


async def _some(view: ChainView, numbers: Sequence[int]) -> list[str]:
    answers = await view.ask(*(Call("eth_getBlockByNumber", [hex(number), False]) for number in numbers))
    return [header(view, number, answer).hash for number, answer in zip(numbers, answers, strict=True)]


async def age_s(view: ChainView, number: int) -> int:
    """How much older block *number* is than the head, in seconds."""
    [said] = await view.ask(Call("eth_getBlockByNumber", [hex(number), False]))
    return max(view.head.at - header(view, number, said).at, 0)
