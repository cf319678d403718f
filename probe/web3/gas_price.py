"""What does gas cost, and did the price cross a threshold?"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Final

from probe.checks._check import Check, Kept
from probe.web3.checkpoint import CheckpointState
from probe.web3.crossings import MeasuredValue, plain, rounded
from probe.web3.nodes import ChainView, Pool
from probe.web3.rpc import Call
from probe.web3.thresholds import watching
from probe.web3.values import quantity
from shared.kinds.web3.fields import amount, in_units, nodes
from shared.kinds.web3.gas_price import GasPrice

_PRICE: Final = Call("eth_gasPrice")
_GWEI_DIGITS: Final = 9


@dataclass(frozen=True, slots=True)
class _Gas:
    """In wei. *price*: what a node suggests for a transaction now, including the tip."""

    price: int
    base_fee: int | None


def prepare(kind: GasPrice, kept: Kept) -> Check:
    """Raises ValueError for a configuration that cannot be run."""
    asked = nodes(kind.rpc_url, kind.chain, kind.max_block_age_seconds, kind.rpc_quorum)
    high, low = (
        None if value is None else amount(value) for value in (kind.thresholds.high, kind.thresholds.low)
    )
    standing = CheckpointState(kept, "gas_price", asked.chain.id)
    return watching(Pool(asked), _look, partial(_measured, high=high, low=low), standing, _median)


async def _look(view: ChainView) -> _Gas:
    [price] = await view.ask(_PRICE)
    return _Gas(quantity(price, _PRICE.method), view.head.base_fee)


def _median(seen: Sequence[_Gas], _quorum: int) -> _Gas:
    """Nodes suggest different tips: use the median, the lower one of an even number."""
    return sorted(seen, key=lambda gas: gas.price)[(len(seen) - 1) // 2]


def _measured(gas: _Gas, *, high: Decimal | None, low: Decimal | None) -> list[MeasuredValue]:
    gwei = in_units(gas.price, _GWEI_DIGITS)
    words = f"gas costs {plain(rounded(gwei))} gwei"
    if gas.base_fee is not None:
        words += f" at a base fee of {plain(rounded(in_units(gas.base_fee, _GWEI_DIGITS)))}"
    measured = []
    if high is not None:
        text = f"{words}; high is {plain(high)} or more"
        measured.append(MeasuredValue("high_gas", gwei, high, "gwei", text))
    if low is not None:
        text = f"{words}; low is {plain(low)} or less"
        measured.append(MeasuredValue("low_gas", gwei, low, "gwei", text, above=False))
    return measured
