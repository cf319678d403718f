"""Wallet monitors: large transfers into or out of a wallet."""

from dataclasses import dataclass
from typing import Literal

from shared.kinds.web3.fields import Address, Age, Amount, ChainName, Confirmations, Quorum, RpcUrl, amount

Direction = Literal["in", "out", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhaleWallet:
    """Amounts of *token* (an ERC-20 contract) or of the chain's own coin, in whole units."""

    sub_type: Literal["whale_wallet"] = "whale_wallet"
    """What the monitor watches on its chain."""
    chain: ChainName
    """Chain by its name, such as `ethereum`, or by its id."""
    rpc_url: RpcUrl | None = None
    """URL of a JSON-RPC node, or up to 10 of them; without it the nodes of the deployment are asked. A
    secret: masked for read-only tokens.
    """
    address: Address
    """Address whose transfers are watched."""
    token: Address | None = None
    """Address of the token (ERC-20); by default the chain's own coin."""
    threshold: Amount
    """Amount in whole units from which a transfer is announced."""
    direction: Direction = "both"
    """Direction of the transfers that are announced."""
    confirmations: Confirmations | None = None
    """Blocks after which an event counts; without it the usual number of the chain."""
    max_block_age_seconds: Age | None = None
    """Age in seconds of the newest block from which a node counts as stale; without it 20 blocks of the
    chain, at least 60 s.
    """
    rpc_quorum: Quorum = 1
    """Number of nodes that must give the same answer."""

    def faults(self) -> dict[str, str]:
        """Errors of combinations of fields."""
        return {} if amount(self.threshold) > 0 else {"threshold": "must be above 0"}
