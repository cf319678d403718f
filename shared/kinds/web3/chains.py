"""The chains known by name, with their defaults."""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Chain:
    """*block_s*: seconds between two blocks; *confirmations*: blocks after which an event counts."""

    id: int
    block_s: float
    confirmations: int = 1


# From each network's documentation; other chains are named by their ids.
CHAINS: Final[dict[str, Chain]] = {
    "ethereum": Chain(1, 12, 3),
    "sepolia": Chain(11_155_111, 12, 3),
    "holesky": Chain(17_000, 12, 3),
    "hoodi": Chain(560_048, 12, 3),
    "optimism": Chain(10, 2),
    "bsc": Chain(56, 0.75, 3),
    "gnosis": Chain(100, 5, 3),
    "unichain": Chain(130, 1),
    "polygon": Chain(137, 2, 3),
    "sonic": Chain(146, 1),
    "fantom": Chain(250, 1),
    "zksync": Chain(324, 1),
    "moonbeam": Chain(1_284, 6),
    "mantle": Chain(5_000, 2),
    "base": Chain(8_453, 2),
    "arbitrum": Chain(42_161, 0.25),
    "celo": Chain(42_220, 1),
    "avalanche": Chain(43_114, 2),
    "linea": Chain(59_144, 2),
    "amoy": Chain(80_002, 2, 3),
    "blast": Chain(81_457, 2),
    "scroll": Chain(534_352, 3),
}
# Any chain: the one that the nodes serve.
ANY_CHAIN: Final = Chain(0, 12)
_ALIASES: Final = {
    "eth": "ethereum",
    "mainnet": "ethereum",
    "matic": "polygon",
    "binance": "bsc",
    "bnb": "bsc",
    "op": "optimism",
    "arb": "arbitrum",
    "avax": "avalanche",
    "xdai": "gnosis",
}
_BY_ID: Final = {chain.id: chain for chain in CHAINS.values()}
_MOST_ID: Final = 2**63 - 1
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9 ._-]*")


def chain_of(named: str | int) -> Chain:
    """The chain of that name or id (a number or its digits). Raises ValueError if it is unknown."""
    text = str(named).strip().lower()
    known = CHAINS.get(_ALIASES.get(text, text))
    if known is not None:
        return known
    id_ = int(text, 16) if text.startswith("0x") else int(text)
    if not 0 < id_ <= _MOST_ID:
        msg = f"no chain has the id {id_}"
        raise ValueError(msg)
    return _BY_ID.get(id_) or Chain(id_, 12)


def chain_or_any(named: str | int | None) -> Chain:
    """As `chain_of`; an unnamed chain means the one that its nodes serve. Raises ValueError."""
    return ANY_CHAIN if named is None or (is_name(named) and not is_chain(named)) else chain_of(named)


def is_name(named: str | int) -> bool:
    """Whether it has the form of a chain's name, known or unknown."""
    return isinstance(named, str) and bool(_NAME.fullmatch(named.strip()))


def is_chain(named: str | int) -> bool:
    """Whether it is a chain's id, or a known name."""
    try:
        chain_of(named)
    except ValueError:
        return False
    return True
