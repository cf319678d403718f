"""Which events does a contract emit?"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import MaxLen, MinLen

from shared.kinds.web3.fields import Address, Age, ChainName, Confirmations, Quorum, RpcUrl

_MOST_FILTERS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractEvent:
    """*abi* may be left out where *event_name* is a full signature.

    *filters*: by the name of an argument its value, or a list of those that are welcome. An event counts
    after so many *confirmations*; None is what is usual on the chain.
    """

    sub_type: Literal["web3_contract_event"] = "web3_contract_event"
    chain_id: ChainName
    address: Address
    abi: Annotated[str, MaxLen(262_144)] | list[Any] | dict[str, Any] | None = None
    event_name: Annotated[str, MinLen(1), MaxLen(4096)]
    rpc_url: RpcUrl | None = None
    filters: Annotated[dict[str, Any], MaxLen(_MOST_FILTERS)] = field(default_factory=dict)
    confirmations: Confirmations | None = None
    max_block_age_seconds: Age | None = None
    rpc_quorum: Quorum = 1

    def faults(self) -> dict[str, str]:
        """What fits no single field."""
        # 60 kB that only the collector, and few probes, need.
        from shared.kinds.web3.abi import event_of  # noqa: PLC0415 - see above
        from shared.kinds.web3.sought import fault  # noqa: PLC0415 - see above

        try:
            event = event_of(self.abi, self.event_name)
        except ValueError as error:
            return {"abi" if self.abi else "eventName": str(error)}
        wrong = fault(event, self.filters)
        return {"filters": wrong} if wrong else {}
