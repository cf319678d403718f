"""Does much come to, or leave, a wallet?"""

from dataclasses import dataclass
from typing import Literal

from shared.kinds.web3.fields import Address, Age, Amount, ChainName, Confirmations, Quorum, RpcUrl, amount

Direction = Literal["in", "out", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhaleWallet:
    """Of *token* (an ERC-20 contract), or of the chain's own coin, in whole units."""

    sub_type: Literal["whale_wallet"] = "whale_wallet"
    chain: ChainName
    rpc_url: RpcUrl | None = None
    address: Address
    token: Address | None = None
    threshold: Amount
    direction: Direction = "both"
    confirmations: Confirmations | None = None
    max_block_age_seconds: Age | None = None
    rpc_quorum: Quorum = 1

    def faults(self) -> dict[str, str]:
        """What fits no single field."""
        return {} if amount(self.threshold) > 0 else {"threshold": "must be above 0"}
