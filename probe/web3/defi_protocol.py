"""Checks a DeFi protocol: value locked, oracle price, and whether it is paused."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_UP, Decimal
from typing import Any, Final

from probe.checks._check import Check, Kept
from probe.net.engine import Net
from probe.net.spent import Limit, PhaseDurations
from probe.web3 import windows
from probe.web3.checkpoint import CheckpointState
from probe.web3.crossings import MeasuredValue, plain
from probe.web3.nodes import ChainView, Pool
from probe.web3.patience import answers
from probe.web3.rpc import NodeFault
from probe.web3.values import words
from probe.web3.views import (
    PriceRound,
    ask_decimals,
    ask_paused,
    balance,
    call,
    decimals,
    digits,
    is_paused,
    latest_round,
    missing,
)
from shared.kinds.web3.defi_protocol import DefiProtocol
from shared.kinds.web3.fields import EXACT, amount, in_units, nodes
from shared.results import Outcome, Status

# ERC-4626 vault: totalAssets(), asset().
_ASSETS: Final = "0x01e1d114"
_ASSET: Final = "0x38d52e0f"
_HUNDRED: Final = Decimal(100)
_PLACES: Final = Decimal("0.0001")


@dataclass(frozen=True, slots=True)
class _ProtocolFigures:
    """*at*: the head's Unix time; values that were not requested are None."""

    at: int
    tvl: Decimal | None
    oracle: PriceRound | None
    reference: PriceRound | None
    paused: bool | None


@dataclass(frozen=True, slots=True)
class _RecentValues:
    """Relevant values within the window: TVLs for drops, prices for deviations."""

    tvl: Sequence[windows.Point]
    high: Sequence[windows.Point]
    low: Sequence[windows.Point]

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> "_RecentValues":
        return cls(*(windows.of(said.get(name)) for name in ("tvl", "high", "low")))

    def plain(self) -> dict[str, Any]:
        """The values as stored in the checkpoint."""
        said = {"tvl": self.tvl, "high": self.high, "low": self.low}
        return {name: windows.plain(points) for name, points in said.items() if points}


def prepare(kind: DefiProtocol, kept: Kept) -> Check:
    """Raises ValueError for a configuration that cannot be run."""
    asked = nodes(kind.rpc_url, kind.chain, kind.max_block_age_seconds, kind.rpc_quorum)
    pool = Pool(asked)
    for value in (kind.min_tvl, kind.tvl_drop_percent, kind.max_price_deviation_percent, kind.expected_price):
        if value is not None:
            amount(value)  # once, rather than in each check
    about = (text and text.lower() for text in (kind.contract, kind.token, kind.oracle))
    standing = CheckpointState(kept, "defi_protocol", asked.chain.id, *about)

    async def check(net: Net, deadline: float) -> Outcome:
        spent = PhaseDurations()
        seen = await pool.read(net, spent, Limit.until(deadline), lambda view: _look(view, kind))
        past = _remember(_RecentValues.of(standing.more), seen, kind)
        measured = [*_of_tvl(kind, seen, past), *_of_oracle(kind, seen, past)]
        if seen.paused is not None:
            measured.append(_pause(paused=seen.paused))
        unjudged = ("price_deviation",) if kind.max_price_deviation_percent is not None else ()
        state, findings = standing.settle(measured, past.plain(), unjudged)
        return Outcome(Status.UP, phases=spent.phases(), address=spent.address, state=state, found=findings)

    return check


async def _look(view: ChainView, kind: DefiProtocol) -> _ProtocolFigures:
    return _ProtocolFigures(
        view.head.at,
        await _tvl(view, kind.contract, kind.token) if kind.contract and kind.asks_tvl else None,
        await latest_round(view, kind.oracle) if kind.oracle else None,
        await latest_round(view, kind.reference) if kind.reference else None,
        await _paused(view, kind.contract) if kind.contract and kind.paused_check else None,
    )


async def _paused(view: ChainView, contract: str) -> bool:
    [said] = await answers(view, ask_paused(view, contract))
    return is_paused(said)


async def _tvl(view: ChainView, contract: str, token: str | None) -> Decimal:
    if token is not None:
        said, places = await answers(view, balance(view, contract, token), ask_decimals(view, token))
        return in_units(words(said, 1, "balanceOf()")[0], digits(places))
    said, asset = await answers(view, call(view, contract, _ASSETS), call(view, contract, _ASSET))
    if missing(said) or missing(asset):
        raise NodeFault(
            "has no ERC-4626 vault as contract (totalAssets(), asset()): token must say what is held there"
        )
    [total] = words(said, 1, "totalAssets()")
    [word] = words(asset, 1, "asset()")
    if word >> 160:
        raise NodeFault("asset(): answers no address")
    return in_units(total, await decimals(view, f"0x{word:040x}"))


def _remember(past: _RecentValues, seen: _ProtocolFigures, kind: DefiProtocol) -> _RecentValues:
    window_s = kind.window_minutes * 60
    tvl, high, low = past.tvl, past.high, past.low
    if seen.tvl is not None and kind.tvl_drop_percent is not None:
        tvl = windows.remember(tvl, (seen.at, seen.tvl), window_s, operator.gt)
    if seen.oracle is not None and seen.oracle.answer > 0 and _by_itself(kind):
        price = (seen.at, seen.oracle.price)
        high = windows.remember(high, price, window_s, operator.gt)
        low = windows.remember(low, price, window_s, operator.lt)
    return _RecentValues(tvl, high, low)


def _by_itself(kind: DefiProtocol) -> bool:
    """Whether the price is compared with its own past."""
    fixed = kind.expected_price is not None or kind.reference is not None
    return kind.max_price_deviation_percent is not None and not fixed


def _of_tvl(kind: DefiProtocol, seen: _ProtocolFigures, past: _RecentValues) -> list[MeasuredValue]:
    measured = []
    if seen.tvl is None:
        return []
    if kind.min_tvl is not None:
        least = amount(kind.min_tvl)
        text = f"{plain(seen.tvl)} is locked, at least {plain(least)} is wanted"
        back = Decimal("0.01")
        measured.append(
            MeasuredValue("low_tvl", seen.tvl, least, "", text, above=False, back=back, strict=True)
        )
    if kind.tvl_drop_percent is not None:
        highest, most = past.tvl[0][1], amount(kind.tvl_drop_percent)
        fell = _percent(EXACT.subtract(highest, seen.tvl), highest, ROUND_DOWN)
        text = (
            f"{plain(fell)} % less is locked than at the most within {kind.window_minutes} min:"
            f" {plain(seen.tvl)}, after {plain(highest)}"
        )
        measured.append(MeasuredValue("tvl_drop", fell, most, "%", text))
    return measured


def _of_oracle(kind: DefiProtocol, seen: _ProtocolFigures, past: _RecentValues) -> list[MeasuredValue]:
    if seen.oracle is None:
        return []
    measured = [_bad(seen)]
    if kind.max_oracle_age_seconds is not None:
        age, most = Decimal(max(seen.at - seen.oracle.at, 0)), Decimal(kind.max_oracle_age_seconds)
        text = f"the oracle's price is {plain(age)} s old, {plain(most)} s are allowed"
        measured.append(MeasuredValue("stale_oracle", age, most, "s", text, back=Decimal(0), strict=True))
    if kind.max_price_deviation_percent is not None and seen.oracle.answer > 0:
        most = amount(kind.max_price_deviation_percent)
        price = seen.oracle.price
        measured += [_deviation(price, wanted, most) for wanted in _wanted(kind, seen, past, price)]
    return measured


def _bad(seen: _ProtocolFigures) -> MeasuredValue:
    """The alert for an unusable price: zero, or carried over from an earlier round."""
    said = ((name, one) for name, one in (("oracle", seen.oracle), ("reference", seen.reference)) if one)
    text = "the oracle answers a price of its last round"
    for name, one in said:
        if one.answer <= 0:
            text = f"the {name} answers {one.answer} as its price"
        elif one.carried or not one.at:
            text = f"the {name} has no answer of its last round"
        else:
            continue
        return MeasuredValue("bad_oracle", Decimal(1), Decimal(1), "", text)
    return MeasuredValue("bad_oracle", Decimal(0), Decimal(1), "", text)


def _wanted(kind: DefiProtocol, seen: _ProtocolFigures, past: _RecentValues, price: Decimal) -> list[Decimal]:
    """The prices to compare *price* with, if any."""
    if kind.expected_price is not None:
        return [amount(kind.expected_price)]
    if kind.reference is not None:
        return [seen.reference.price] if seen.reference and seen.reference.answer > 0 else []
    extremes = [points[0][1] for points in (past.high, past.low) if points]
    return sorted(extremes, key=lambda one: _off(price, one))[-1:]


def _deviation(price: Decimal, wanted: Decimal, most: Decimal) -> MeasuredValue:
    off = _off(price, wanted)
    text = f"the price is {plain(price)}, {plain(off)} % off {plain(wanted)}: {plain(most)} % are allowed"
    return MeasuredValue("price_deviation", off, most, "%", text, strict=True)


def _off(price: Decimal, wanted: Decimal) -> Decimal:
    return _percent(EXACT.abs(EXACT.subtract(price, wanted)), wanted, ROUND_UP)


def _pause(*, paused: bool) -> MeasuredValue:
    text = f"the contract is {'paused' if paused else 'not paused'}"
    return MeasuredValue("paused", Decimal(paused), Decimal(1), "", text)


def _percent(part: Decimal, whole: Decimal, rounding: str) -> Decimal:
    """The percentage; any nonzero part of zero counts as 100."""
    if whole <= 0:
        return _HUNDRED if part else Decimal(0)
    share = EXACT.divide(EXACT.multiply(part, _HUNDRED), whole)
    return share.quantize(_PLACES, rounding, EXACT)
