"""Validates the logs that nodes return against the query."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from probe.web3.nodes import ChainView
from probe.web3.patience import absent, header, is_late
from probe.web3.rpc import Call, NodeFault, Refusal, TooLarge
from probe.web3.slices import fairly
from probe.web3.values import data, hash32, quantity, result

# Transfer(address,address,uint256) of an ERC-20.
TRANSFER: Final = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
_MOST_TOPICS: Final = 4
_METHOD: Final = "eth_getLogs"
_BLOCK: Final = "eth_getBlockByNumber"
_MOST_LOGS: Final = 5_000
# Larger than any index in a block.
_MOST_INDEX: Final = 2**31
# Overhead of a log as JSON, besides its data.
_ENVELOPE: Final = 700


@dataclass(frozen=True, slots=True)
class Log:
    """A log as the chain contains it; *topics* are words, *index* is its position in the block."""

    address: str
    topics: tuple[bytes, ...]
    data: bytes
    block: int
    block_hash: str
    transaction: str
    index: int

    @property
    def key(self) -> str:
        return f"{self.transaction}:{self.index}"

    @property
    def size(self) -> int:
        """Its approximate size in a result, in bytes."""
        return _ENVELOPE + 2 * len(self.data)


def by_filters(
    filters: Sequence[Mapping[str, Any]],
) -> Callable[[ChainView, int, int], Awaitable[Sequence[Log]]]:
    """A reader of logs that match any of *filters*, each an address and topics, for a range of blocks.

    It raises TooLarge if the node limits the response, NodeFault for logs that were not requested.
    """

    async def read(view: ChainView, first: int, last: int) -> Sequence[Log]:
        bounds = {"fromBlock": hex(first), "toBlock": hex(last)}
        asked = [Call(_METHOD, [{**filter_, **bounds}]) for filter_ in filters]
        # Together with the last block: a node without it might return an incomplete result.
        *answers, end = await view.ask(*asked, Call(_BLOCK, [hex(last), False]))
        header(view, last, end)
        found: dict[str, Log] = {}
        for filter_, answer in zip(filters, answers, strict=True):
            if isinstance(answer, Refusal):
                msg = f"{_METHOD}: {answer.words}"
                raise absent(view, last, msg) if is_late(answer) else TooLarge(msg)
            if isinstance(answer, list) and len(answer) > _MOST_LOGS and first < last:
                raise TooLarge(f"{_METHOD}: answers more than {_MOST_LOGS} logs")
            for log in await logs(answer):
                if not (first <= log.block <= last and _fits(log, filter_)):
                    raise NodeFault(f"{_METHOD}: answers logs that were not asked for")
                found[log.key] = log
        return sorted(found.values(), key=lambda log: (log.block, log.index))

    return read


async def logs(value: Any) -> list[Log]:
    """Parse a node's logs, in the order of the chain. Raises NodeFault for invalid ones."""
    entries = result(value, _METHOD)
    if not isinstance(entries, list):
        raise NodeFault(f"{_METHOD}: answers no logs")
    read = [
        _log(entry)
        async for entry in fairly(entries)
        if not (isinstance(entry, Mapping) and entry.get("removed"))
    ]
    return sorted(read, key=lambda log: (log.block, log.index))


def _log(entry: Any) -> Log:
    if not isinstance(entry, Mapping):
        raise NodeFault(f"{_METHOD}: answers no logs")
    topics = entry.get("topics")
    if not isinstance(topics, list) or len(topics) > _MOST_TOPICS:
        raise NodeFault(f"{_METHOD}: answers a log without topics")
    index = quantity(entry.get("logIndex"), _METHOD)
    if index >= _MOST_INDEX:
        raise NodeFault(f"{_METHOD}: answers a log at no place in its block")
    return Log(
        str(entry.get("address")).lower(),
        tuple(bytes.fromhex(hash32(topic, _METHOD)[2:]) for topic in topics),
        data(entry.get("data"), _METHOD),
        quantity(entry.get("blockNumber"), _METHOD),
        hash32(entry.get("blockHash"), _METHOD),
        hash32(entry.get("transactionHash"), _METHOD),
        index,
    )


def _fits(log: Log, filter_: Mapping[str, Any]) -> bool:
    sought: Sequence[Any] = filter_.get("topics", ())
    return (
        log.address == str(filter_["address"]).lower()
        and len(log.topics) >= len(sought)
        and all(
            wanted is None or "0x" + has.hex() in (wanted if isinstance(wanted, list) else [wanted])
            for has, wanted in zip(log.topics, sought, strict=False)
        )
    )
