"""Fields that several Web3 monitors share."""

import re
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from typing import Annotated, Final

from annotated_types import Interval, MaxLen, MinLen, Predicate

from shared.kinds.fields import ErrorText, Secret
from shared.kinds.http import is_url
from shared.kinds.web3.chains import Chain, chain_or_any, is_chain, is_name

_ADDRESS: Final = re.compile(r"0[xX][0-9a-fA-F]{40}")
# Larger than any token balance: 2**256 has 78 digits.
_MOST_DIGITS: Final = 80
# Sums and products of amounts are exact in this context.
EXACT: Final = Context(prec=400)


def is_address(text: str) -> bool:
    """Whether it is the hexadecimal address of an account or contract."""
    return bool(_ADDRESS.fullmatch(text))


def amount(value: str | float) -> Decimal:
    """The exact number. Raises ValueError if it is none, or too large."""
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
    """The *raw* amount in whole units: 1,500,000 of a token with 6 decimals are 1.5."""
    return Decimal(raw).scaleb(-decimals, EXACT)


def is_amount(value: str | float) -> bool:
    """Whether it is a nonnegative number in ASCII digits."""
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
    # A monitor's own nodes determine the chain of an unknown name; the collector requires them.
    Predicate(lambda named: is_chain(named) or is_name(named)),
    ErrorText(NO_CHAIN),
]
Url = Annotated[
    str, MaxLen(8192), Predicate(is_url), ErrorText("must be an http:// or https:// URL with a host")
]
Address = Annotated[str, Predicate(is_address), ErrorText("must be an address: 0x and 40 hexadecimal digits")]
Amount = Annotated[
    Annotated[str, MaxLen(128)] | int | float,
    Predicate(is_amount),
    ErrorText("must not be below 0", of=_is_negative),
    ErrorText("must be a number"),
]
# A provider's URL usually contains a key in its path.
RpcUrl = Annotated[Url | Annotated[list[Url], MinLen(1), MaxLen(10)], Secret()]
Age = Annotated[int, Interval(ge=1, le=86_400)]
Quorum = Annotated[int, Interval(ge=1, le=10)]
Confirmations = Annotated[int, Interval(ge=0, le=256)]

# The age in blocks from which a node counts as stale; at least a minute.
_STALE_BLOCKS: Final = 20
_LEAST_AGE_S: Final = 60


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a chain, and when to trust them."""

    urls: tuple[str, ...]
    chain: Chain
    max_age_s: float
    quorum: int


def nodes(
    rpc_url: str | list[str] | None, chain: str | int | None, max_age_s: int | None, quorum: int
) -> Nodes:
    """*chain* None: the one that they serve; *max_age_s* None: the chain's default.

    An empty list is no error: the check fails and says so. Raises ValueError for too few nodes.
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
