"""Messages between two chains: matched in whatever order they are read, and over forks."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.web3.branches import RevertedBlocks
from probe.web3.messages import MOST_KEPT, BridgeMessage, MessageBook, matched, merged, settled


def message(number: int, id_: str = "a", *, branch: str = "0", at: int = 0) -> BridgeMessage:
    """In the block of that *number*, which was made then (or *at*)."""
    return BridgeMessage(number, 0, "0x" + branch * 8, id_, at or 1000 + number)


def ids(messages: list[BridgeMessage]) -> list[str]:
    return [message.id for message in messages]


def under_way(book: MessageBook) -> list[str]:
    return ids(matched(book)[1])


def test_each_delivery_is_of_the_oldest_that_is_the_same() -> None:
    book = MessageBook(
        (message(1), message(2, "b"), message(3), message(4)), (message(9, "b"), message(10), message(11))
    )

    pairs, left, early = matched(book)

    assert [(sent.block, delivered.block) for sent, delivered in pairs] == [(2, 9), (1, 10), (3, 11)]
    assert [one.block for one in left] == [4]
    assert early == []


def test_nothing_is_delivered_before_it_was_sent() -> None:
    book = MessageBook((message(500),), (message(1),))

    assert under_way(book) == ["a"]
    assert under_way(MessageBook((message(100),), (message(1),))) == []  # the clocks of two chains differ


def test_a_fork_takes_messages_back_and_what_is_read_anew_counts_once() -> None:
    have = (message(5), message(6, "b"), message(7, "c"))
    gone = RevertedBlocks(6, 7, ((6, "0x" + "1" * 64), (7, "0x" + "0" * 64)))

    after = merged(have, [message(6, "d", branch="1"), message(7, "c")], gone)

    assert ids(list(after)) == ["a", "d", "c"]


def test_a_delivery_that_a_fork_took_back_is_under_way_again() -> None:
    book = MessageBook((message(5),), (message(50),))
    assert under_way(book) == []

    forked = replace(
        book, delivered=merged(book.delivered, (), RevertedBlocks(40, 60, ((50, "0x" + "f" * 64),)))
    )

    assert under_way(forked) == ["a"]


def test_only_pairs_that_no_fork_can_reach_are_forgotten() -> None:
    book = MessageBook((message(5), message(6, "b"), message(7, "c")), (message(50), message(60, "b")))

    assert settled(book, (6, 51), 0) == MessageBook(book.sent[1:], book.delivered[1:])
    assert settled(book, (5, 51), 0) == book
    assert settled(book, (6, 50), 0) == book


def test_what_was_sent_too_long_ago_is_given_up() -> None:
    book = MessageBook((message(5), message(900, "b")), ())

    assert under_way(settled(book, (0, 0), 1500)) == ["b"]


def test_what_is_kept_fits_into_a_checkpoint_and_forgets_nothing_that_is_under_way() -> None:
    sent = tuple(message(number, f"{number:032x}") for number in range(10**9, 10**9 + 1000))
    delivered = tuple(replace(one, block=one.block + 7) for one in sent if one.block % 6)
    lost = [one.id for one in sent if not one.block % 6]

    book = settled(MessageBook(sent, delivered), (0, 0), 0)

    assert under_way(book) == lost
    assert len(book.sent) <= MOST_KEPT
    assert len(book.delivered) <= MOST_KEPT
    assert len(orjson.dumps(book.plain())) < 40_000


def test_a_checkpoint_holds_all_of_it() -> None:
    book = MessageBook((message(5), message(6, "b")), (message(50),))

    assert MessageBook.of(orjson.loads(orjson.dumps(book.plain()))) == book


SENT, DELIVERED = 0, 1
DEED = st.one_of(
    st.tuples(st.just("send"), st.just(0)),
    st.tuples(st.just("deliver"), st.integers(0, 20)),
    st.tuples(st.just("fork"), st.integers(0, 6)),
    st.tuples(st.just("forget"), st.just(0)),
)


class World:
    """Two chains with a message in each block, and forks that leave out what lay in some of them."""

    def __init__(self) -> None:
        self.chains: list[list[BridgeMessage]] = [[], []]
        self.book = MessageBook()
        self.at = 1000
        self.branch = 0

    def add(self, side: int, id_: str) -> None:
        self.at += 1
        chain = self.chains[side]
        message = BridgeMessage(len(chain), 0, f"0x{self.branch:064x}", id_, self.at)
        chain.append(message)
        self.read(side, [message], None)

    def fork(self, side: int, depth: int) -> None:
        chain = self.chains[side]
        first = max(len(chain) - depth, 0)
        old, self.chains[side] = chain[first:], chain[:first]
        self.branch += 1 << 232  # in the part of a hash that is kept
        hash_ = f"0x{self.branch:064x}"
        new = [replace(message, block_hash=hash_, block=first + at) for at, message in enumerate(old[::2])]
        self.chains[side] += new
        hashes = tuple((message.block, message.block_hash) for message in new)
        self.read(side, new, RevertedBlocks(first, first + len(old), hashes))

    def read(self, side: int, new: list[BridgeMessage], gone: RevertedBlocks | None) -> None:
        sides = [self.book.sent, self.book.delivered]
        sides[side] = merged(sides[side], new, gone)
        self.book = MessageBook.of(orjson.loads(orjson.dumps(MessageBook(*sides).plain())))

    @property
    def under_way(self) -> list[str]:
        delivered = {message.id for message in self.chains[DELIVERED]}
        return [message.id for message in self.chains[SENT] if message.id not in delivered]


@given(st.lists(DEED, max_size=60))
def test_what_is_under_way_is_known_over_all_forks_and_restarts(deeds: list[tuple[str, int]]) -> None:
    world = World()
    for number, (deed, value) in enumerate(deeds):
        if deed == "send":
            world.add(SENT, f"{number:x}")
        elif deed == "deliver" and (waiting := world.under_way):
            world.add(DELIVERED, waiting[value % len(waiting)])
        elif deed == "fork":
            world.fork(value % 2, value // 2)
        elif deed == "forget":
            firm = (len(world.chains[SENT]) - 3, len(world.chains[DELIVERED]) - 3)
            world.book = settled(world.book, firm, 0)
        assert under_way(world.book) == world.under_way


@pytest.mark.parametrize("said", [{}, {"sent": 7}, {"sent": [[1, 2]]}, {"sent": [["x", 0, "", "", 0]]}])
def test_a_book_of_another_shape_is_empty(said: dict[str, Any]) -> None:
    assert MessageBook.of(said) == MessageBook()
