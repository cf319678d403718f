"""How far is a position from being liquidated?"""

from dataclasses import dataclass
from typing import Final, Literal

from shared.kinds.web3.fields import Address, Age, Amount, ChainName, Quorum, RpcUrl, amount

Protocol = Literal["aave_v3", "compound_v3"]
# Beyond it lie only positions without any debt, whose factor is endless.
_MOST_FACTOR: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Liquidation:
    """*pool*: Aave's Pool, or Compound's Comet; *address*: whose position it is.

    Below *min_health_factor* an alert is raised; a position is liquidated below 1.
    """

    sub_type: Literal["liquidation"] = "liquidation"
    chain: ChainName
    rpc_url: RpcUrl | None = None
    protocol: Protocol
    pool: Address
    address: Address
    min_health_factor: Amount = "1.1"
    max_block_age_seconds: Age | None = None
    rpc_quorum: Quorum = 1

    def faults(self) -> dict[str, str]:
        """What fits no single field."""
        if 0 < amount(self.min_health_factor) <= _MOST_FACTOR:
            return {}
        return {"minHealthFactor": f"must be above 0, and at most {_MOST_FACTOR}"}
