"""The two ends of a bridge: what lies or was minted there, and which messages went through."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.spent import Limit, PhaseDurations
from probe.web3.events import topic
from probe.web3.logs import TRANSFER, Log, by_filters
from probe.web3.messages import BridgeMessage
from probe.web3.nodes import ChainView, Pool
from probe.web3.patience import answers, header, patiently
from probe.web3.reader import Cursor, Reader, Source, Step
from probe.web3.restarted_chain import RestartedChain
from probe.web3.rpc import Call, NodeFault
from probe.web3.values import words
from probe.web3.views import (
    address_word,
    ask_decimals,
    ask_paused,
    balance,
    digits,
    is_paused,
    missing,
    total_supply,
)
from shared.kinds.web3.abi import AbiEvent, event_of
from shared.kinds.web3.bridge import Bridge, BridgeSide
from shared.kinds.web3.fields import nodes

# Minting is a transfer from the zero address.
_NOBODY: Final = "0x" + "0" * 40
_MOST_AMOUNT: Final = 2**128
_ID_BYTES: Final = 16

# Returns the id of a log's message; empty if it is none.
_Named = Callable[[Log], str]


@dataclass(frozen=True, slots=True)
class RecentAmount:
    """*at*: the head's Unix time. The locked or minted amount was recently between *least* and *most*.

    *step*: the messages read, if requested.
    """

    at: int
    least: int
    most: int
    decimals: int
    paused: bool
    step: Step[BridgeMessage] | None = None

    @property
    def whole(self) -> bool:
        """Whether all messages that count by now were read."""
        return self.step is not None and self.step.whole


@dataclass(frozen=True, slots=True)
class BridgeEnd:
    """One of both ends: a readable *name*; *measure*: the call that returns the amount."""

    name: str
    pool: Pool
    chain: int
    side: BridgeSide
    measure: Callable[[ChainView], Call]
    reader: Reader[BridgeMessage]
    anew: RestartedChain

    async def look(
        self, net: Net, spent: PhaseDurations, limit: Limit, cursor: Cursor | None, *, read: bool
    ) -> RecentAmount:
        """Read the end's state. Raises TargetError with the end's name, ProbeError."""
        self.anew.begin()
        try:
            return await self.pool.read(net, spent, limit, lambda view: self._see(view, cursor, read=read))
        except TargetError as error:
            msg = f"{self.name}: {error}"
            raise TargetError(msg, code=error.code, spent=spent) from None

    async def _see(self, view: ChainView, cursor: Cursor | None, *, read: bool) -> RecentAmount:
        step = await self.anew.advance(self.reader, view, cursor) if read else None
        if step is not None:
            step = replace(step, logs=await _dated(view, step.logs))
        token, contract = self.side.token, self.side.contract
        calls = [ask_decimals(view, token), ask_paused(view, contract), self.measure(view)]
        if step is not None and step.whole:
            # The state at the block up to which messages were read: newer messages are in transit.
            then = replace(view.head, number=min(step.cursor.next - 1, view.head.number))
            calls.append(self.measure(replace(view, head=then)))
        places, flag, *measured = await answers(view, *calls)
        amounts = [words(said, 1, "balanceOf(), totalSupply()")[0] for said in measured]
        # Not every contract can be paused.
        paused = not missing(flag) and is_paused(flag)
        return RecentAmount(view.head.at, min(amounts), max(amounts), digits(places), paused, step)


def source(kind: Bridge) -> BridgeEnd:
    """The end where tokens are locked. Raises ValueError for a configuration that cannot be run."""
    side = kind.source
    sought = [TRANSFER, None, "0x" + address_word(side.contract)]
    reading = _reading(side, kind.deposit_event, sought)
    return _end("source", kind, side, lambda view: balance(view, side.contract, side.token), reading)


def destination(kind: Bridge) -> BridgeEnd:
    """The end where tokens are minted. Raises ValueError for a configuration that cannot be run."""
    side = kind.destination
    reading = _reading(side, kind.delivery_event, [TRANSFER, "0x" + address_word(_NOBODY)])
    return _end("destination", kind, side, lambda view: total_supply(view, side.token), reading)


def _end(
    name: str,
    kind: Bridge,
    side: BridgeSide,
    measure: Callable[[ChainView], Call],
    reading: Source[BridgeMessage],
) -> BridgeEnd:
    asked = nodes(side.rpc_url, side.chain, kind.max_block_age_seconds, kind.rpc_quorum)
    reader = Reader(reading, asked.chain.confirmations)
    return BridgeEnd(name, Pool(asked), asked.chain.id, side, measure, reader, RestartedChain())


def _reading(side: BridgeSide, signature: str | None, transfer: Sequence[Any]) -> Source[BridgeMessage]:
    """The reader of a side's messages: by its event, or else by transfers of its token."""
    if signature is None:
        return _messages({"address": side.token, "topics": transfer}, _by_amount)
    event = event_of(None, signature)
    return _messages({"address": side.contract, "topics": [topic(event)]}, lambda log: _by_id(event, log))


def _messages(filter_: dict[str, Any], named: _Named) -> Source[BridgeMessage]:
    read = by_filters([filter_])

    async def source_(view: ChainView, first: int, last: int) -> Sequence[BridgeMessage]:
        return [
            BridgeMessage(log.block, log.index, log.block_hash, name)
            for log in await read(view, first, last)
            if (name := named(log))
        ]

    return source_


def _by_amount(log: Log) -> str:
    """Id by amount; empty for zero, transfers to oneself, and amounts too large to be real."""
    value = int.from_bytes(log.data[:32])
    moved = len(log.data) == 32 and len(log.topics) == 3 and log.topics[1] != log.topics[2]
    return f"{value:x}" if moved and 0 < value < _MOST_AMOUNT else ""


def _by_id(event: AbiEvent, log: Log) -> str:
    """Id by the first argument's raw word, because its type may differ between the chains."""
    indexed = event.inputs[0].indexed
    apart = len(log.topics) > 1 if indexed is None else indexed
    words_ = log.topics[1:2] if apart else (log.data[:32],)
    word = b"".join(words_)
    if len(word) != 32:
        msg = f"{event.name}: has logs without an id as the first argument"
        raise NodeFault(msg)
    return hashlib.blake2b(word, digest_size=_ID_BYTES).hexdigest()


async def _dated(view: ChainView, messages: Sequence[BridgeMessage]) -> tuple[BridgeMessage, ...]:
    """The messages with their blocks' times. Raises NodeFault for blocks that the node lacks."""
    numbers = sorted({message.block for message in messages})
    at = await patiently(view, partial(_times, view, numbers))
    return tuple(replace(message, at=at[message.block]) for message in messages)


async def _times(view: ChainView, numbers: Sequence[int]) -> dict[int, int]:
    said = await view.ask(*(Call("eth_getBlockByNumber", [hex(number), False]) for number in numbers))
    return {number: header(view, number, one).at for number, one in zip(numbers, said, strict=True)}
