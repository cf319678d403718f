"""What does gas cost, and did the price cross a threshold?"""

from dataclasses import dataclass
from typing import Literal

from shared.kinds.web3.fields import Age, Amount, ChainName, Quorum, RpcUrl, amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """In gwei; either alone is sufficient."""

    high: Amount | None = None
    """Price in gwei at or above which an alert is raised."""
    low: Amount | None = None
    """Price in gwei at or below which an alert is raised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GasPrice:
    """Alerts at *high* or more, at *low* or less, until the price is 5 % back."""

    sub_type: Literal["gas_price"] = "gas_price"
    """What the monitor watches on its chain."""
    chain: ChainName
    """Chain by its name, such as `ethereum`, or by its id."""
    rpc_url: RpcUrl | None = None
    """URL of a JSON-RPC node, or up to 10 of them; without it the nodes of the deployment are asked. A
    secret: masked for read-only tokens.
    """
    thresholds: Thresholds
    """Prices at which an alert is raised; it recovers 5 % back from them."""
    max_block_age_seconds: Age | None = None
    """Age in seconds of the newest block from which a node counts as stale; without it 20 blocks of the
    chain, at least 60 s.
    """
    rpc_quorum: Quorum = 1
    """Number of nodes that must give the same answer."""

    def faults(self) -> dict[str, str]:
        """Errors of combinations of fields."""
        high, low = self.thresholds.high, self.thresholds.low
        if high is None and low is None:
            return {"thresholds": "must say high, low, or both"}
        if high is not None and low is not None and amount(high) <= amount(low):
            return {"thresholds": "high must be above low"}
        return {}
