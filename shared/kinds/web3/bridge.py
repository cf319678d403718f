"""Bridge monitors: whether the locked tokens cover the minted ones, and whether transfers complete."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval, MaxLen, MinLen

from shared.kinds.web3.fields import Address, Age, ChainName, Quorum, RpcUrl
from shared.kinds.web3.percents import Change

Signature = Annotated[str, MinLen(1), MaxLen(4096)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeSide:
    """On the source chain *contract* holds *token*; on the destination chain *token* is minted."""

    chain: ChainName
    """Chain by its name, such as `ethereum`, or by its id."""
    rpc_url: RpcUrl | None = None
    """URL of a JSON-RPC node, or up to 10 of them; without it the nodes of the deployment are asked. A
    secret: masked for read-only tokens.
    """
    contract: Address
    """Address of the contract on this side; at the source it holds `token`."""
    token: Address
    """Address of the token's contract (ERC-20); at the destination it is minted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """*max_delay_seconds*: limit of the time from sending a message to its delivery.

    A message is a transfer of the source's token to its contract, delivered once the same amount is minted.
    Bridges that take fees, or deliver equal amounts in another order, need event names instead:
    *deposit_event* of the source's contract and *delivery_event* of the destination's, full signatures whose
    first arguments identify the message.
    """

    sub_type: Literal["bridge"] = "bridge"
    """What the monitor watches on its chain."""
    source: BridgeSide
    """Chain that value leaves."""
    destination: BridgeSide
    """Chain that value arrives at."""
    max_imbalance_percent: Change = 1
    """Highest difference between what is held and what was minted, in percent, without an alert."""
    max_delay_seconds: Annotated[int, Interval(ge=1, le=2_592_000)] | None = None
    """Longest time in seconds from the sending of a message to its delivery without an alert."""
    deposit_event: Signature | None = None
    """Signature of the source's event that sends a message; its first argument names the message."""
    delivery_event: Signature | None = None
    """Signature of the destination's event that delivers a message; its first argument names the message."""
    max_block_age_seconds: Age | None = None
    """Age in seconds of the newest block from which a node counts as stale; without it 20 blocks of the
    chain, at least 60 s.
    """
    rpc_quorum: Quorum = 1
    """Number of nodes that must give the same answer."""

    def faults(self) -> dict[str, str]:
        """Errors of combinations of fields."""
        said = {"depositEvent": self.deposit_event, "deliveryEvent": self.delivery_event}
        if not any(said.values()):
            return {}
        return {name: fault for name, text in said.items() if (fault := _fault(text))}


def _fault(signature: str | None) -> str:
    """Why the first argument of the event cannot identify a message; empty if it can."""
    # 60 kB that only the collector and a few probes need.
    from shared.kinds.web3.abi import event_of  # noqa: PLC0415 - see above

    if signature is None:
        return "is required where the other side's event is named"
    try:
        event = event_of(None, signature)
    except ValueError:
        return "must be a full signature, like Sent(uint256 indexed id, uint256 amount)"
    if event.anonymous or not event.inputs or not event.inputs[0].static:
        return "must have an id as its first argument: a number, an address, or bytes of fixed length"
    return ""
