"""Fields that several Web3 monitors share."""

import re
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from typing import Annotated, Final

from annotated_types import Interval, MaxLen, MinLen, Predicate

from shared.kinds.fields import Says, Secret
from shared.kinds.http import is_url
from shared.kinds.web3.chains import Chain, chain_or_any, is_chain, is_name

_ADDRESS: Final = re.compile(r"0[xX][0-9a-fA-F]{40}")
# Beyond this no balance of any token lies: 2**256 has 78 digits.
_MOST_DIGITS: Final = 80
# Sums and products of amounts lose no digit in it.
EXACT: Final = Context(prec=400)


def is_address(text: str) -> bool:
    """Is it an account's or a contract's address in hexadecimal?"""
    return bool(_ADDRESS.fullmatch(text))


def amount(value: str | float) -> Decimal:
    """The number exactly as it was written. Raises ValueError if it is none, or beyond all measure."""
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        msg = f"no number: {value!r}"
        raise ValueError(msg) from None
    if not number.is_finite() or (number and not -_MOST_DIGITS < number.adjusted() < _MOST_DIGITS):
        msg = f"no amount: {value!r}"
        raise ValueError(msg)
    return number


def in_units(raw: int, decimals: int) -> Decimal:
    """The *raw* amount of the chain in whole units: 1,500,000 of a token with 6 decimals are 1.5."""
    return Decimal(raw).scaleb(-decimals, EXACT)


def is_amount(value: str | float) -> bool:
    """Is it a number, not below zero, in the digits of ASCII?"""
    try:
        return amount(value) >= 0 and str(value).isascii()
    except ValueError:
        return False


def _is_negative(value: object) -> bool:
    try:
        return isinstance(value, str | int | float) and amount(value) < 0
    except ValueError:
        return False


NO_CHAIN: Final = "must be a chain's name or its id"

ChainName = Annotated[
    Annotated[str, MaxLen(64)] | int,
    # Nodes of its own say which chain an unknown name means; the collector asks for them.
    Predicate(lambda named: is_chain(named) or is_name(named)),
    Says(NO_CHAIN),
]
Url = Annotated[str, MaxLen(8192), Predicate(is_url), Says("must be an http:// or https:// URL with a host")]
Address = Annotated[str, Predicate(is_address), Says("must be an address: 0x and 40 hexadecimal digits")]
Amount = Annotated[
    Annotated[str, MaxLen(128)] | int | float,
    Predicate(is_amount),
    Says("must not be below 0", of=_is_negative),
    Says("must be a number"),
]
# A provider's URL mostly carries a key in its path.
RpcUrl = Annotated[Url | Annotated[list[Url], MinLen(1), MaxLen(10)], Secret()]
Age = Annotated[int, Interval(ge=1, le=86_400)]
Quorum = Annotated[int, Interval(ge=1, le=10)]
Confirmations = Annotated[int, Interval(ge=0, le=256)]

# A head may be so many blocks old before its node counts as stale, but never less than a minute.
_STALE_BLOCKS: Final = 20
_LEAST_AGE_S: Final = 60


@dataclass(frozen=True, slots=True)
class Nodes:
    """Whom to ask about one chain, and how far each is to be trusted."""

    urls: tuple[str, ...]
    chain: Chain
    max_age_s: float
    quorum: int


def nodes(
    rpc_url: str | list[str] | None, chain: str | int | None, max_age_s: int | None, quorum: int
) -> Nodes:
    """*chain* None: whichever they are on; *max_age_s* None: what is usual on the chain.

    None of them is no error: the check fails and says so. Raises ValueError for too few to agree.
    """
    urls = tuple(dict.fromkeys([rpc_url] if isinstance(rpc_url, str) else rpc_url or ()))
    if not all(isinstance(url, str) and is_url(url) for url in urls):
        raise ValueError("rpcUrl must be an http:// or https:// URL with a host")
    if urls and quorum > len(urls):
        msg = f"{len(urls)} nodes can't agree in a quorum of {quorum}"
        raise ValueError(msg)
    known = chain_or_any(chain)
    age_s = max_age_s or max(known.block_s * _STALE_BLOCKS, _LEAST_AGE_S)
    return Nodes(urls, known, age_s, quorum)
