"""Large transfers of a token or coin to and from a wallet."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import orjson

from probe.net.errors import TargetError
from probe.web3.crossings import plain
from probe.web3.decode import checksummed, plain_text
from probe.web3.events import finding
from probe.web3.logs import TRANSFER, Log, by_filters
from probe.web3.nodes import ChainView
from probe.web3.patience import answers
from probe.web3.places import PlaceFinding
from probe.web3.reader import Source
from probe.web3.rpc import NodeFault
from probe.web3.slices import fairly
from probe.web3.values import data
from probe.web3.views import address_word, call
from shared.findings import Finding, Findings
from shared.kinds.web3.fields import in_units
from shared.kinds.web3.whale_wallet import Direction

# The selector of symbol().
_SYMBOL: Final = "0x95d89b41"
_WORD: Final = 32
_MOST_SYMBOL: Final = 16
_ADDRESS: Final = 40
_TOPICS: Final = 3


@dataclass(frozen=True, slots=True)
class Terms:
    """Which transfers count: wallet, direction, and *threshold* in whole units of *places* decimals."""

    wallet: str
    direction: Direction
    threshold: Decimal
    places: int
    unit: str

    def large(self, sender: str, receiver: str, value: int) -> bool:
        """Whether it is to be reported. The addresses are in lower case, as is the wallet's."""
        ours = (self.direction != "out" and receiver == self.wallet) or (
            self.direction != "in" and sender == self.wallet
        )
        return ours and in_units(value, self.places) >= self.threshold

    def alert(self, sender: str, receiver: str, value: int) -> dict[str, str]:
        """The alert of a transfer's finding."""
        amount = plain(in_units(value, self.places))
        return {
            "type": "large_transfer",
            "current": amount,
            "threshold": plain(self.threshold),
            "unit": self.unit,
            "message": f"{amount} {self.unit} went from {checksummed(sender)} to {checksummed(receiver)}",
        }

    def net(self, sender: str, receiver: str, value: int) -> int:
        """The amount that the wallet received, negative if it sent."""
        return value * ((receiver == self.wallet) - (sender == self.wallet))


def of_token(token: str, terms: Terms) -> Source[PlaceFinding]:
    """A source of transfers of the ERC-20 *token*. It raises TargetError if they are not an ERC-20's."""
    word = "0x" + address_word(terms.wallet)
    out = {"address": token, "topics": [TRANSFER, word]}
    in_ = {"address": token, "topics": [TRANSFER, None, word]}
    read = by_filters(
        [*([out] if terms.direction != "in" else []), *([in_] if terms.direction != "out" else [])]
    )

    async def source(view: ChainView, first: int, last: int) -> Sequence[PlaceFinding]:
        findings = []
        async for log in fairly(await read(view, first, last)):
            sender, receiver, value = _transfer(log)
            if terms.large(sender, receiver, value):
                finding = _token_finding(log, terms, sender, receiver, value)
                net = terms.net(sender, receiver, value)
                findings.append(PlaceFinding(log.block, log.block_hash, log.index, finding, net))
        return findings

    return source


async def demand_erc20(view: ChainView, token: str) -> None:
    """Raise TargetError if the newest block has transfers of *token* that are not an ERC-20's."""
    read = by_filters([{"address": token, "topics": [TRANSFER]}])
    for log in await read(view, view.head.number, view.head.number):
        _transfer(log)


async def symbol(view: ChainView, token: str) -> str:
    """The symbol of *token*, if it is short and plain."""
    [answer] = await answers(view, call(view, token, _SYMBOL))
    try:
        raw = data(answer, "symbol()")
    except NodeFault:
        return "tokens"
    # Strings are preceded by offset and length; old tokens return one word.
    text = plain_text(raw[2 * _WORD :] if len(raw) > 2 * _WORD else raw).strip("\ufffd")
    good = 0 < len(text) <= _MOST_SYMBOL and text.isascii() and text.replace(".", "").isalnum()
    return text if good else "tokens"


def coin_finding(
    transaction: str, block: int, block_hash: str, args: dict[str, Any], alert: dict[str, str]
) -> Finding:
    """The finding for a transaction that transferred a large amount of the chain's own coin."""
    told = {
        "name": "Transfer",
        "args": args,
        "address": None,
        "transactionHash": transaction,
        "blockNumber": block,
        "blockHash": block_hash,
        "logIndex": None,
        "alert": alert,
    }
    return Finding(Findings.LOG, f"{transaction}:native", orjson.dumps(told))


def transfer_args(sender: str, receiver: str, value: int) -> dict[str, str]:
    """The transfer in the form of event arguments."""
    return {"from": checksummed(sender), "to": checksummed(receiver), "value": str(value)}


def _token_finding(log: Log, terms: Terms, sender: str, receiver: str, value: int) -> Finding:
    alert = {"alert": terms.alert(sender, receiver, value)}
    return finding("Transfer", log, transfer_args(sender, receiver, value), more=alert)


def _transfer(log: Log) -> tuple[str, str, int]:
    """Sender, receiver and raw amount. Raises TargetError."""
    if len(log.topics) != _TOPICS or len(log.data) != _WORD:
        msg = f"token: {checksummed(log.address)} tells of transfers otherwise than an ERC-20 token does"
        raise TargetError(msg)
    sender, receiver = ("0x" + topic.hex()[-_ADDRESS:] for topic in log.topics[1:])
    return sender, receiver, int.from_bytes(log.data)
