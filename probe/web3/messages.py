"""Messages between two chains: sent, delivered, pending."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from probe.web3.branches import RevertedBlocks
from probe.web3.reader import MOST_BYTES

# How many per side fit into a checkpoint, together with those of another check.
MOST_KEPT: Final = 200
_MOST_AT_ONCE: Final = 64
# Unmatched deliveries to keep: most belong to messages sent before the monitor was created.
_MOST_EARLY: Final = 100
# Tolerance between the clocks of two chains: a delivery cannot precede its message by more.
_SKEW_S: Final = 120
_HASH: Final = 10


@dataclass(frozen=True, slots=True)
class BridgeMessage:
    """Sent or delivered at the Unix time *at*, and its place in the chain; both sides share the *id*."""

    block: int
    index: int
    block_hash: str
    id: str
    at: int = 0

    @property
    def size(self) -> int:
        """A size that limits a check to the number of messages that a checkpoint can hold."""
        return MOST_BYTES // _MOST_AT_ONCE

    @property
    def amount(self) -> int:
        """The amount, if it is used as the id."""
        return int(self.id, 16)

    def plain(self) -> list[Any]:
        """The message as JSON."""
        return [self.block, self.index, self.block_hash[:_HASH], self.id, self.at]


@dataclass(frozen=True, slots=True)
class MessageBook:
    """The relevant messages of both sides, each in the order of its chain."""

    sent: Sequence[BridgeMessage] = ()
    delivered: Sequence[BridgeMessage] = ()

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> "MessageBook":
        """The inverse of `plain`; empty for invalid data."""
        return cls(_messages(said.get("sent")), _messages(said.get("delivered")))

    def plain(self) -> dict[str, Any]:
        """The book as stored in the checkpoint."""
        return {
            "sent": [message.plain() for message in self.sent],
            "delivered": [message.plain() for message in self.delivered],
        }


def merged(
    have: Iterable[BridgeMessage], new: Iterable[BridgeMessage], gone: RevertedBlocks | None
) -> tuple[BridgeMessage, ...]:
    """*have* and *new*, without messages in blocks that are *gone*."""
    stand = {number: hash_[:_HASH] for number, hash_ in gone.hashes} if gone else {}
    kept = {
        (message.block, message.index): message
        for message in have
        if gone is None
        or not gone.first <= message.block <= gone.last
        or stand.get(message.block) == message.block_hash[:_HASH]
    }
    kept |= {
        (message.block, message.index): replace(message, block_hash=message.block_hash[:_HASH])
        for message in new
    }
    return tuple(kept[place] for place in sorted(kept))


def matched(
    book: MessageBook,
) -> tuple[list[tuple[BridgeMessage, BridgeMessage]], list[BridgeMessage], list[BridgeMessage]]:
    """Pairs of sent and delivered messages; those in transit; and deliveries without a sent message."""
    waiting: defaultdict[str, deque[BridgeMessage]] = defaultdict(deque)
    for message in book.sent:
        waiting[message.id].append(message)
    pairs, early = [], []
    for message in book.delivered:
        queue = waiting[message.id]
        if queue and queue[0].at <= message.at + _SKEW_S:
            pairs.append((queue.popleft(), message))
        else:
            early.append(message)
    left = {(message.block, message.index) for queue in waiting.values() for message in queue}
    return pairs, [message for message in book.sent if (message.block, message.index) in left], early


def settled(book: MessageBook, final: tuple[int, int], since: int) -> MessageBook:
    """*book* without obsolete messages: pairs in blocks before *final*, and those sent before *since*.

    *final*: the block of each side below which no fork will reach.
    """
    pairs, open_, early = matched(book)
    loose = [pair for pair in pairs if pair[0].block >= final[0] or pair[1].block >= final[1]]
    room = max(MOST_KEPT - max(len(open_), len(early[-_MOST_EARLY:])), 0)
    loose = loose[len(loose) - min(len(loose), room) :]
    sent = [*(message for message in open_ if message.at >= since), *(pair[0] for pair in loose)]
    delivered = [*early[-_MOST_EARLY:], *(pair[1] for pair in loose)]
    return MessageBook(tuple(sorted(sent, key=_place)), tuple(sorted(delivered, key=_place)))


def _place(message: BridgeMessage) -> tuple[int, int]:
    return message.block, message.index


def _messages(said: Any) -> tuple[BridgeMessage, ...]:
    read = []
    for item in said if isinstance(said, list) else ():
        try:
            block, index, hash_, id_, at = item
            read.append(BridgeMessage(int(block), int(index), str(hash_), str(id_), int(at)))
        except (TypeError, ValueError):
            continue
    return tuple(read)
