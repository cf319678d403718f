"""DeFi protocol monitors: value locked, oracle price, and whether the protocol is paused."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval

from shared.kinds.web3.fields import Address, Age, Amount, ChainName, Quorum, RpcUrl, amount
from shared.kinds.web3.percents import Change, Part


@dataclass(frozen=True, slots=True, kw_only=True)
class DefiProtocol:
    """*contract* is a vault (ERC-4626), or holds *token*, whose amount in whole units is the TVL.

    *oracle* is a price feed with Chainlink's interface; its price is compared with *expected_price*, with
    *reference*, another feed, or by default with itself within the window.
    """

    sub_type: Literal["defi_protocol"] = "defi_protocol"
    """What the monitor watches on its chain."""
    chain: ChainName
    """Chain by its name, such as `ethereum`, or by its id."""
    rpc_url: RpcUrl | None = None
    """URL of a JSON-RPC node, or up to 10 of them; without it the nodes of the deployment are asked. A
    secret: masked for read-only tokens.
    """
    contract: Address | None = None
    """Address of the vault (ERC-4626), or of the contract that holds `token`."""
    token: Address | None = None
    """Address of the token (ERC-20) whose amount in `contract` is the total value locked."""
    min_tvl: Amount | None = None
    """Total value locked, in whole units of the token, below which an alert is raised."""
    tvl_drop_percent: Part | None = None
    """Loss of total value locked within `windowMinutes`, in percent, from which an alert is raised."""
    window_minutes: Annotated[int, Interval(ge=1, le=10_080)] = 60
    """Length in minutes of the window in which changes are measured."""
    oracle: Address | None = None
    """Address of a price feed with Chainlink's interface."""
    max_oracle_age_seconds: Annotated[int, Interval(ge=1, le=31_536_000)] | None = None
    """Age in seconds of the feed's price above which an alert is raised."""
    max_price_deviation_percent: Change | None = None
    """Deviation of the price, in percent, from which an alert is raised: from `expectedPrice`, from
    `reference`, or without both from itself within the window.
    """
    reference: Address | None = None
    """Address of the feed whose price is the measure; excludes `expectedPrice`."""
    expected_price: Amount | None = None
    """Price that is the measure; excludes `reference`."""
    paused_check: bool = False
    """Whether an alert is raised while the contract is paused."""
    max_block_age_seconds: Age | None = None
    """Age in seconds of the newest block from which a node counts as stale; without it 20 blocks of the
    chain, at least 60 s.
    """
    rpc_quorum: Quorum = 1
    """Number of nodes that must give the same answer."""

    def faults(self) -> dict[str, str]:
        """Errors of combinations of fields."""
        of_contract = self.asks_tvl or self.paused_check
        of_oracle = self.max_oracle_age_seconds is not None or self.max_price_deviation_percent is not None
        if not of_contract and not of_oracle and self.oracle is None:
            return {
                "config": "asks for nothing: minTvl, tvlDropPercent, oracle, maxPriceDeviationPercent"
                " or pausedCheck is wanted"
            }
        faults = {}
        if of_contract and self.contract is None:
            faults["contract"] = "Contract is required"
        if of_oracle and self.oracle is None:
            faults["oracle"] = "Oracle is required"
        if self.expected_price is not None and amount(self.expected_price) <= 0:
            faults["expectedPrice"] = "must be above 0"
        elif self.expected_price is not None and self.reference is not None:
            faults["reference"] = "can't be had together with expectedPrice"
        return faults

    @property
    def asks_tvl(self) -> bool:
        """Whether the total value locked is needed."""
        return self.min_tvl is not None or self.tvl_drop_percent is not None
