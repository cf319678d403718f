"""View calls of well-known contracts: selectors, arguments, results."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from probe.web3.nodes import ChainView
from probe.web3.patience import answers
from probe.web3.rpc import Call, NodeFault, Refusal
from probe.web3.values import signed, words
from shared.kinds.web3.fields import in_units

# The first four bytes of the Keccak-256 of each signature.
_BALANCE_OF: Final = "0x70a08231"
_DECIMALS: Final = "0x313ce567"
_TOTAL_SUPPLY: Final = "0x18160ddd"
_PAUSED: Final = "0x5c975abb"
_LATEST_ROUND: Final = "0xfeaf968c"
# The error code of a call that the contract rejected, not the node.
_REVERTED: Final = 3
# Such errors of other nodes; contracts of old compilers fail like this if a function is missing.
_BROKEN: Final = ("revert", "invalid opcode", "invalid jump", "bad instruction", "vm execution error")
# Tokens usually have 6 to 18 decimals; more than this makes no sensible amount.
_MOST_DECIMALS: Final = 36


@dataclass(frozen=True, slots=True)
class PriceRound:
    """The latest round of a price feed; *at*: Unix time in seconds.

    *carried*: the answer is that of an earlier round, because the latest got none.
    """

    answer: int
    at: int
    decimals: int
    carried: bool = False

    @property
    def price(self) -> Decimal:
        return in_units(self.answer, self.decimals)


def address_word(address: str) -> str:
    """64 digits: an address as an argument, or as a topic without ``0x``."""
    return address.lower().removeprefix("0x").rjust(64, "0")


def call(view: ChainView, to: str, selector: str, *arguments: str) -> Call:
    """A call at the view's head; *arguments* are words of 64 digits."""
    return Call("eth_call", [{"to": to, "data": selector + "".join(arguments)}, view.at])


def total_supply(view: ChainView, token: str) -> Call:
    return call(view, token, _TOTAL_SUPPLY)


def balance(view: ChainView, holder: str, token: str | None) -> Call:
    """The *holder*'s balance of *token*, or of the chain's own coin."""
    if token is None:
        return Call("eth_getBalance", [holder, view.at])
    return call(view, token, _BALANCE_OF, address_word(holder))


async def decimals(view: ChainView, token: str) -> int:
    """The number of decimals of *token*'s amounts. Raises NodeFault."""
    [said] = await answers(view, ask_decimals(view, token))
    return digits(said)


async def latest_round(view: ChainView, feed: str) -> PriceRound:
    """The feed's latest round. Raises NodeFault."""
    said, places = await answers(view, call(view, feed, _LATEST_ROUND), ask_decimals(view, feed))
    number, answer, _, at, answered = words(said, 5, "latestRoundData()")
    return PriceRound(signed(answer), at, digits(places), carried=answered < number)


def ask_decimals(view: ChainView, token: str) -> Call:
    return call(view, token, _DECIMALS)


def digits(said: Any) -> int:
    """The answer of `ask_decimals`. Raises NodeFault."""
    [number] = words(said, 1, "decimals()")
    if number > _MOST_DECIMALS:
        msg = f"decimals(): answers {number}, more than {_MOST_DECIMALS}"
        raise NodeFault(msg)
    return number


def ask_paused(view: ChainView, contract: str) -> Call:
    return call(view, contract, _PAUSED)


def is_paused(said: Any) -> bool:
    """The answer of `ask_paused`. Raises NodeFault, also if the contract cannot be paused."""
    return bool(words(said, 1, "paused()")[0])


def missing(answer: Any) -> bool:
    """Whether the contract lacks such a function, or does not exist, according to any kind of node."""
    if isinstance(answer, Refusal):
        text = answer.message.lower()
        return answer.code == _REVERTED or any(word in text for word in _BROKEN)
    return bool(answer == "0x")
