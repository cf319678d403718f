"""Which events does a contract emit?"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import MaxLen, MinLen

from shared.kinds.web3.fields import Address, Age, ChainName, Confirmations, Quorum, RpcUrl

_MOST_FILTERS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractEvent:
    """*abi* is optional if *event_name* is a full signature.

    *filters*: required values by argument name, one or a list. An event counts after *confirmations* blocks;
    None: the usual number of the chain.
    """

    sub_type: Literal["web3_contract_event"] = "web3_contract_event"
    """What the monitor watches on its chain."""
    chain_id: ChainName
    """Chain by its id, or by its name."""
    address: Address
    """Address of the contract."""
    abi: Annotated[str, MaxLen(262_144)] | list[Any] | dict[str, Any] | None = None
    """ABI of the contract as JSON; optional if `eventName` is a full signature."""
    event_name: Annotated[str, MinLen(1), MaxLen(4096)]
    """Name of the event, or its full signature such as `Transfer(address indexed from, address indexed to,
    uint256 value)`.
    """
    rpc_url: RpcUrl | None = None
    """URL of a JSON-RPC node, or up to 10 of them; without it the nodes of the deployment are asked. A
    secret: masked for read-only tokens.
    """
    filters: Annotated[dict[str, Any], MaxLen(_MOST_FILTERS)] = field(default_factory=dict)
    """Values of arguments that announced events must have, one or a list, by argument name."""
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
        # 60 kB that only the collector and a few probes need.
        from shared.kinds.web3.abi import event_of  # noqa: PLC0415 - see above
        from shared.kinds.web3.sought import fault  # noqa: PLC0415 - see above

        try:
            event = event_of(self.abi, self.event_name)
        except ValueError as error:
            return {"abi" if self.abi else "eventName": str(error)}
        wrong = fault(event, self.filters)
        return {"filters": wrong} if wrong else {}
