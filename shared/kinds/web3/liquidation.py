"""How far is a position from being liquidated?"""

from dataclasses import dataclass
from typing import Final, Literal

from shared.kinds.web3.fields import Address, Age, Amount, ChainName, Quorum, RpcUrl, amount

Protocol = Literal["aave_v3", "compound_v3"]
# Only positions without debt, whose factor is infinite, exceed it.
_MOST_FACTOR: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Liquidation:
    """*pool*: Aave's Pool, or Compound's Comet; *address*: owner of the position.

    Below *min_health_factor* an alert is raised; a position is liquidated below 1.
    """

    sub_type: Literal["liquidation"] = "liquidation"
    """What the monitor watches on its chain."""
    chain: ChainName
    """Chain by its name, such as `ethereum`, or by its id."""
    rpc_url: RpcUrl | None = None
    """URL of a JSON-RPC node, or up to 10 of them; without it the nodes of the deployment are asked. A
    secret: masked for read-only tokens.
    """
    protocol: Protocol
    """Lending protocol of the position."""
    pool: Address
    """Address of Aave's Pool or of Compound's Comet."""
    address: Address
    """Address of the position's owner."""
    min_health_factor: Amount = "1.1"
    """Health factor below which an alert is raised; below 1 the position is liquidated."""
    max_block_age_seconds: Age | None = None
    """Age in seconds of the newest block from which a node counts as stale; without it 20 blocks of the
    chain, at least 60 s.
    """
    rpc_quorum: Quorum = 1
    """Number of nodes that must give the same answer."""

    def faults(self) -> dict[str, str]:
        """Errors of combinations of fields."""
        if 0 < amount(self.min_health_factor) <= _MOST_FACTOR:
            return {}
        return {"minHealthFactor": f"must be above 0, and at most {_MOST_FACTOR}"}
