"""How far is a position from being liquidated?"""

from collections.abc import Sequence
from decimal import ROUND_DOWN, Decimal
from functools import partial
from typing import Any, Final

from probe.checks._check import Check, Kept
from probe.web3.checkpoint import CheckpointState
from probe.web3.crossings import MeasuredValue, plain
from probe.web3.nodes import ChainView, Look, Pool
from probe.web3.patience import answers
from probe.web3.rpc import NodeFault
from probe.web3.thresholds import watching
from probe.web3.values import words
from probe.web3.views import address_word, call
from shared.kinds.web3.fields import EXACT, amount, in_units, nodes
from shared.kinds.web3.liquidation import Liquidation

# getUserAccountData(address) of Aave's Pool: the last of its six words is the health factor.
_ACCOUNT: Final = "0xbf92857c"
_NO_DEBT: Final = 2**256 - 1
# Compound's Comet: numAssets(), getAssetInfo(uint8), collateralBalanceOf(address,address),
# borrowBalanceOf(address), getPrice(address), baseTokenPriceFeed(), baseScale().
_ASSETS: Final = "0xa46fe83b"
_ASSET: Final = "0xc8c7fe6b"
_COLLATERAL: Final = "0x5c2549ee"
_DEBT: Final = "0x374c49b4"
_PRICE: Final = "0x41976e09"
_BASE_FEED: Final = "0xe7dad6bd"
_BASE_SCALE: Final = "0x44c1e5eb"
_MOST_ASSETS: Final = 64
# Both calculate factors with 18 decimals.
_DIGITS: Final = 18
_PLACES: Final = Decimal("0.0001")
_BACK: Final = Decimal("0.01")


def prepare(kind: Liquidation, kept: Kept) -> Check:
    """Raises ValueError for a configuration that cannot be run."""
    asked = nodes(kind.rpc_url, kind.chain, kind.max_block_age_seconds, kind.rpc_quorum)
    pool, owner = kind.pool.lower(), kind.address.lower()
    if kind.protocol not in _LOOKS:
        msg = f"protocol must be {' or '.join(_LOOKS)}"
        raise ValueError(msg)
    look = _LOOKS[kind.protocol](pool, owner)
    standing = CheckpointState(kept, "liquidation", asked.chain.id, kind.protocol, pool, owner)
    return watching(Pool(asked), look, partial(_measured, least=amount(kind.min_health_factor)), standing)


def _measured(factor: int, *, least: Decimal) -> list[MeasuredValue]:
    """The alert; without debt, both protocols return the highest number, which never crosses the minimum."""
    value = in_units(factor, _DIGITS)
    shown = plain(value.quantize(_PLACES, ROUND_DOWN, EXACT))
    text = f"the health factor is {shown}, at least {plain(least)} is wanted"
    if factor == _NO_DEBT:
        text = "there is no debt"
    return [MeasuredValue("low_health_factor", value, least, "", text, above=False, back=_BACK, strict=True)]


def _aave(pool: str, owner: str) -> Look[int]:
    async def look(view: ChainView) -> int:
        [said] = await answers(view, call(view, pool, _ACCOUNT, address_word(owner)))
        return words(said, 6, "getUserAccountData()")[5]

    return look


def _compound(pool: str, owner: str) -> Look[int]:
    """The liquidation value of the collateral divided by the debt."""
    account = address_word(owner)

    async def look(view: ChainView) -> int:
        count, debt, feed, scale = await _words(
            view, pool, (_ASSETS,), (_DEBT, account), (_BASE_FEED,), (_BASE_SCALE,)
        )
        if not debt:
            return _NO_DEBT
        if count > _MOST_ASSETS or not scale:
            raise NodeFault("numAssets(), baseScale(): answer what no Comet does")
        assets = await _assets(view, pool, count)
        held = await _words(view, pool, *((_COLLATERAL, account, f"{asset[1]:064x}") for asset in assets))
        used = [(asset, balance) for asset, balance in zip(assets, held, strict=True) if balance]
        feeds = [feed, *(asset[2] for asset, _ in used)]
        price, *prices = await _words(view, pool, *((_PRICE, f"{one:064x}") for one in feeds))
        if not price:
            raise NodeFault("getPrice(): answers nothing for the base token")
        worth = sum(
            balance * each // asset[3] * asset[5] for (asset, balance), each in zip(used, prices, strict=True)
        )
        return worth * scale // (debt * price)

    return look


async def _assets(view: ChainView, pool: str, count: int) -> Sequence[list[int]]:
    """Offset, address, feed, scale and factors of each asset; the last factor here is for liquidation."""
    infos = await answers(view, *(call(view, pool, _ASSET, f"{number:064x}") for number in range(count)))
    assets = [words(info, 6, "getAssetInfo()") for info in infos]
    if not all(asset[3] for asset in assets):
        raise NodeFault("getAssetInfo(): answers a scale of 0")
    return assets


async def _words(view: ChainView, to: str, *asked: tuple[Any, ...]) -> list[int]:
    """The single word that each call (selector and arguments) returns."""
    said = await answers(view, *(call(view, to, selector, *arguments) for selector, *arguments in asked))
    return [words(one, 1, _NAMES[selector])[0] for one, (selector, *_) in zip(said, asked, strict=True)]


_LOOKS: Final = {"aave_v3": _aave, "compound_v3": _compound}
_NAMES: Final = {
    _ASSETS: "numAssets()",
    _COLLATERAL: "collateralBalanceOf()",
    _DEBT: "borrowBalanceOf()",
    _PRICE: "getPrice()",
    _BASE_FEED: "baseTokenPriceFeed()",
    _BASE_SCALE: "baseScale()",
}
