"""What does gas cost, and did the price cross a threshold?"""

from dataclasses import dataclass
from typing import Literal

from shared.kinds.web3.fields import Age, Amount, ChainName, Quorum, RpcUrl, amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """In gwei; either alone is enough."""

    high: Amount | None = None
    low: Amount | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GasPrice:
    """At *high* or more, at *low* or less, an alert is raised; 5 % back it has recovered."""

    sub_type: Literal["gas_price"] = "gas_price"
    chain: ChainName
    rpc_url: RpcUrl | None = None
    thresholds: Thresholds
    max_block_age_seconds: Age | None = None
    rpc_quorum: Quorum = 1

    def faults(self) -> dict[str, str]:
        """What fits no single field."""
        high, low = self.thresholds.high, self.thresholds.low
        if high is None and low is None:
            return {"thresholds": "must say high, low, or both"}
        if high is not None and low is not None and amount(high) <= amount(low):
            return {"thresholds": "high must be above low"}
        return {}
