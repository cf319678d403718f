"""Waits for nodes behind one address that are a little late."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from probe.web3.nodes import ChainView
from probe.web3.rpc import Call, NodeFault, Refusal
from probe.web3.values import Block, block

R = TypeVar("R")

_PAUSES_S: Final = (0.1, 0.3, 0.6)
# Nodes that lag longer than this are not used.
_LATE: Final = 32
# Nodes' error texts for a missing block or state.
_NOT_HERE: Final = re.compile(
    r"header (for hash )?not found|unknown block|blocks? .{0,80}not (be )?found|could not find block"
    r"|beyond .{0,20}head|unfinalized|last accepted block|missing trie node|state .{0,80}(not |un)available",
    re.IGNORECASE,
)


class NotYet(NodeFault):
    """A block is missing, although it precedes the known head."""


class _MissingBlocks(NotYet):
    """Some of the answers report missing blocks."""

    def __init__(self, said: list[Any]) -> None:
        super().__init__("has not got to its own head")
        self.said = said


def absent(view: ChainView, number: int, text: str) -> NodeFault:
    """The error if the node answers *text* about a block that it should have."""
    return NotYet(text) if number > view.head.number - _LATE else NodeFault(text)


def header(view: ChainView, number: int, answer: Any) -> Block:
    """Parse block *number*. Raises NodeFault if it is missing."""
    found = None if is_late(answer) else block(answer, "eth_getBlockByNumber")
    if found is None or found.number != number:
        raise absent(view, number, f"does not have block {number}, which lies behind its head")
    return found


async def patiently(view: ChainView, ask: Callable[[], Awaitable[R]]) -> R:
    """The result of *ask*, repeated while blocks are missing, as time permits."""
    for pause_s in _PAUSES_S:
        try:
            return await ask()
        except NotYet:
            if view.limit.mostly_spent:
                raise
        await asyncio.sleep(pause_s)
    return await ask()


async def answers(view: ChainView, *calls: Call) -> list[Any]:
    """As `View.ask`, for contract calls at its head; repeated while the node has not reached it."""

    async def ask() -> list[Any]:
        said = await view.ask(*calls)
        if any(map(is_late, said)):
            raise _MissingBlocks(said)
        return said

    try:
        return await patiently(view, ask)
    except _MissingBlocks as late:
        return late.said


def is_late(answer: Any) -> bool:
    """Whether a node answers that it has not reached a block."""
    return isinstance(answer, Refusal) and bool(_NOT_HERE.search(answer.message))
