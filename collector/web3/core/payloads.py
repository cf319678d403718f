"""The payloads of events of chains."""

from dataclasses import dataclass
from typing import Annotated, Any

from collector.events.core.payloads import EventPayload, Name
from collector.platform.answers import Example, MonitorId, Omitted


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainMonitor:
    """The Web3 monitor of an event."""

    id: MonitorId
    """Id of the monitor."""
    name: Name
    """Name of the monitor."""
    type: Annotated[str, Example("gas_price")]
    """Type of the monitor."""
    chain: Annotated[str | int, Example("ethereum")] | None
    """Chain as named in its configuration; null if it names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GasAlert:
    """A gas price that crossed a threshold."""

    type: Annotated[str, Example("high_gas")]
    """Threshold that was crossed; the suffix `_recovered` marks the recovery."""
    current_gwei: Annotated[float, Example(52.1)] | None
    """Current price in gwei."""
    threshold_gwei: Annotated[float, Example(50)] | None
    """Price that was crossed, in gwei."""
    message: Annotated[str, Example("gas costs 52.1 gwei, at or above 50")]
    """The same, formatted for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GasEvent(EventPayload):
    """The gas price crossed a threshold or recovered."""

    monitor: ChainMonitor
    """The monitor."""
    alert: GasAlert
    """The threshold that was crossed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEventLog:
    """A contract event or a transfer."""

    name: Annotated[str, Example("Transfer")] | None
    """Name of the event."""
    args: dict[str, Any] | None
    """Arguments of the event by name; whole numbers as decimal texts."""
    address: Annotated[str, Example("0xdac17f958d2ee523a2206206994597c13d831ec7")] | None
    """Address of the contract."""
    transaction_hash: Annotated[str, Example("0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204")] | None
    """Hash of the transaction."""
    block_number: Annotated[int, Example(19_000_000)] | None
    """Number of the block."""
    log_index: Annotated[int, Example(12)] | None
    """Position of the event in its block."""
    removed: bool
    """Whether a chain reorganisation has undone it."""
    error: Annotated[str | None, Example("the data does not fit the event"), Omitted()] = None
    """Why the arguments could not be decoded; present only in that case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainAlertPart:
    """A notable occurrence on a chain."""

    type: Annotated[str, Example("large_transfer")]
    """Type of the occurrence; the suffixes `_recovered` and `_removed` mark its end or its undoing."""
    sub_type: Annotated[str, Example("whale_wallet")]
    """Subtype of the monitor."""
    current: Annotated[str, Example("1500")] | None
    """Current value, as a decimal text."""
    threshold: Annotated[str, Example("1000")] | None
    """Value that was crossed, as a decimal text."""
    unit: Annotated[str, Example("ETH")] | None
    """Unit of both."""
    message: Annotated[str, Example("1500 ETH left the wallet")]
    """The same, formatted for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainAlertEvent(EventPayload):
    """A threshold on a chain was crossed or recovered; or a large transfer was seen."""

    monitor: ChainMonitor
    """The monitor."""
    alert: ChainAlertPart
    """The occurrence."""
    log: Annotated[ChainEventLog | None, Omitted()] = None
    """The transfer; present only for transfers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLogEvent(EventPayload):
    """A contract emitted an event, or the chain has undone one."""

    monitor: ChainMonitor
    """The monitor."""
    log: ChainEventLog
    """The event."""
