"""Transfers of a chain's own coin to and from a wallet: reads whole blocks that changed its balance.

A node without the state of older blocks cannot tell which ones: those are skipped, and counted. Coins that
a contract passes on leave no trace except the changed balance.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from probe.web3.nodes import ChainView
from probe.web3.patience import absent, header
from probe.web3.places import PlaceFinding
from probe.web3.rpc import Call, NodeFault, Refusal, TooLarge
from probe.web3.slices import fairly
from probe.web3.transfers import Terms, coin_finding, transfer_args
from probe.web3.values import hash32, quantity, result

_ETHER: Final = frozenset({1, 10, 130, 324, 8453, 17000, 42161, 59144, 81457, 534352, 560048, 11155111})
_COINS: Final[Mapping[int, str]] = {
    56: "BNB",
    100: "xDAI",
    137: "POL",
    146: "S",
    250: "FTM",
    1_284: "GLMR",
    5_000: "MNT",
    42_220: "CELO",
    43_114: "AVAX",
    80_002: "POL",
}
DIGITS: Final = 18
# Nodes without an archive usually keep the state of 128 blocks; some have expired by the time we ask.
_KEPT: Final = (100, 50, 10)
_SEGMENTS: Final = 64
_MOST_BLOCKS: Final = 128
_AT_ONCE: Final = 25
# A block with all its transactions may have a megabyte.
_WHOLE_AT_ONCE: Final = 4


def coin_of(chain: int) -> str:
    """The coin's name."""
    return _COINS.get(chain, "ETH" if chain in _ETHER else "coins")


class Coins:
    """Reads large transfers by *terms*, as a `Source`; *missed*: the number of skipped blocks."""

    __slots__ = ("_terms", "missed")

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self.missed = 0

    async def __call__(self, view: ChainView, first: int, last: int) -> Sequence[PlaceFinding]:
        first = max(first, 1)  # the genesis block has no transactions
        start = await self._first_known(view, first)
        numbers = await self._changed(view, start, last) if start <= last else []
        if len(numbers) > _MOST_BLOCKS and first < last:
            raise TooLarge("a wallet that moves in nearly every block")
        findings: list[PlaceFinding] = []
        for at in range(0, len(numbers), _WHOLE_AT_ONCE):
            findings += await self._large(view, numbers[at : at + _WHOLE_AT_ONCE])
        self.missed += min(start, last + 1) - first
        return findings

    async def _first_known(self, view: ChainView, first: int) -> int:
        """*first*, or the first later block whose previous state the node has."""
        newer = [view.head.number - kept for kept in _KEPT]
        befores = [first - 1, *(number for number in newer if number >= first)]
        asked = [Call("eth_getBalance", [self._terms.wallet, hex(before)]) for before in befores]
        answers = await view.ask(*asked)
        known = (at for at, answer in zip(befores, answers, strict=True) if not isinstance(answer, Refusal))
        return next(known, first - 1) + 1

    async def _changed(self, view: ChainView, first: int, last: int) -> list[int]:
        """The blocks that changed balance or nonce; in a long span, opposite changes may cancel out."""
        step = -(-(last - first + 1) // _SEGMENTS)
        spans = await self._moved(view, [*range(first - 1, last, step), last])
        if step > 1:
            spans = [one for a, b in spans for one in await self._moved(view, range(a, b + 1))]
        return [after for _, after in spans]

    async def _moved(self, view: ChainView, numbers: Sequence[int]) -> list[tuple[int, int]]:
        """Pairs of consecutive block numbers between which the account changed."""
        states = dict(zip(numbers, await self._accounts(view, numbers), strict=True))
        return [(a, b) for a, b in pairwise(numbers) if states[a] != states[b]]

    async def _accounts(self, view: ChainView, numbers: Sequence[int]) -> list[tuple[int, int]]:
        """Balance and nonce after each block."""
        accounts = []
        for at in range(0, len(numbers), _AT_ONCE):
            blocks = [hex(number) for number in numbers[at : at + _AT_ONCE]]
            methods = ("eth_getBalance", "eth_getTransactionCount")
            said = await view.ask(
                *(Call(method, [self._terms.wallet, block]) for block in blocks for method in methods)
            )
            for which, one in enumerate(said):
                if isinstance(one, Refusal):
                    raise absent(view, numbers[at + which // 2], f"{methods[which % 2]}: {one.words}")
            read = [quantity(one, methods[which % 2]) for which, one in enumerate(said)]
            accounts += list(zip(read[::2], read[1::2], strict=True))
        return accounts

    async def _large(self, view: ChainView, numbers: Sequence[int]) -> list[PlaceFinding]:
        whole = await view.ask(*(Call("eth_getBlockByNumber", [hex(number), True]) for number in numbers))
        moved = [
            finding
            for number, answer in zip(numbers, whole, strict=True)
            for finding in await self._of(view, number, answer)
        ]
        if not moved:
            return []
        receipts = await view.ask(
            *(Call("eth_getTransactionReceipt", [_hash(finding.finding.key)]) for finding in moved)
        )
        return [
            finding
            for finding, receipt in zip(moved, receipts, strict=True)
            if _succeeded(view, finding, receipt)
        ]

    async def _of(self, view: ChainView, number: int, answer: Any) -> list[PlaceFinding]:
        """The large transfers of a block, including failed ones."""
        what = "eth_getBlockByNumber"
        whole = header(view, number, answer)
        transactions = answer.get("transactions")
        if not isinstance(transactions, list):
            raise NodeFault(f"{what}: answers no block {number}")
        findings = []
        async for at, one in fairly(enumerate(transactions)):
            if not isinstance(one, dict):
                raise NodeFault(f"{what}: answers no transactions")
            sender, receiver = str(one.get("from")).lower(), str(one.get("to")).lower()
            if self._terms.wallet not in (sender, receiver) or one.get("to") is None:
                continue
            value, hash_ = quantity(one.get("value"), what), hash32(one.get("hash"), what)
            if value and self._terms.large(sender, receiver, value):
                args, alert = (
                    transfer_args(sender, receiver, value),
                    self._terms.alert(sender, receiver, value),
                )
                finding = coin_finding(hash_, number, whole.hash, args, alert)
                net = self._terms.net(sender, receiver, value)
                findings.append(PlaceFinding(number, whole.hash, at, finding, net))
        return findings


def _hash(key: str) -> str:
    return key.partition(":")[0]


def _succeeded(view: ChainView, finding: PlaceFinding, answer: Any) -> bool:
    """Whether it succeeded: a failed one moves nothing. Raises NodeFault for a wrong or missing receipt."""
    receipt = result(answer, "eth_getTransactionReceipt")
    if receipt is None:
        raise absent(view, finding.block, f"has no receipt of a transaction of block {finding.block}")
    if not isinstance(receipt, dict) or str(receipt.get("blockHash")).lower() != finding.block_hash:
        raise NodeFault("eth_getTransactionReceipt: answers no receipt of a transaction of its block")
    return receipt.get("status") in (None, "0x1")
