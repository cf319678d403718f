"""Responses of the API about monitors."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from collector.platform.answers import Example, MonitorId, Omitted, Revision, Timestamp, Warnings
from collector.platform.monitor import Severity, Shown

Name = Annotated[str, Example("shop")]
Location = Annotated[str, Example("local")]
Percent = Annotated[float, Example(99.95)]
Latency = Annotated[float, Example(38)]
Error = Annotated[str, Example("connect: connection refused by 192.0.2.1:443")]
Vote = Literal["up", "down", "unknown"]
Milliseconds = Annotated[float, Example(19.7)]
Interval = Annotated[int, Example(60)]
Tags = dict[str, Annotated[str, Example("web")]]
DaysLeft = Annotated[int | None, Example(59), Omitted()]


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorItem:
    """A monitor as lists show it."""

    id: MonitorId
    """Id of the monitor."""
    name: Name
    """Name of the monitor."""
    type: Annotated[str, Example("http")]
    """Type of the monitor."""
    status: Shown
    """Status: a monitor that was never measured is up, see `stats.measured` of the monitor."""
    url: Annotated[str, Example("https://shop.example.com/")] | None
    """URL of an http monitor; null for other types."""
    interval: Interval
    """Seconds between two checks."""
    timeout: Annotated[int, Example(10)]
    """Seconds until a check gives up."""
    locations: list[Location]
    """Locations that check it."""
    tags: Tags
    """Tags by name."""
    severity: Severity
    """Severity of the incidents that it raises."""
    group: Annotated[str, Example("web")] | None
    """Name of the group that it is listed under."""
    revision: Revision
    """Number of its present version, as in the ETag."""
    last_checked_at: datetime | None
    """When its newest check ended."""
    silenced_until: datetime | None
    """Until when its notifications are silenced; null if they are not."""
    paused_at: datetime | None
    """When it was paused; null if it is not."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorStats:
    """Numbers of a monitor; uptimes in percent of the known time."""

    uptime: Percent
    """Uptime of the last 30 days, in percent."""
    avg_latency: Latency
    """Average response time of successful checks of the last 24 hours, in milliseconds; 0 without any."""
    checks_today: Annotated[int, Example(1440)]
    """Number of checks of the last 24 hours."""
    p50: Annotated[float, Example(36)]
    """Median of these response times, in milliseconds."""
    p95: Annotated[float, Example(61)]
    """95th percentile of these response times, in milliseconds."""
    p99: Annotated[float, Example(120)]
    """99th percentile of these response times, in milliseconds."""
    uptime24h: Annotated[float, Example(100)]
    """Uptime of the last 24 hours, in percent."""
    uptime7d: Percent
    """Uptime of the last 7 days, in percent."""
    uptime90d: Percent
    """Uptime of the last 90 days, in percent."""
    check_success: Percent
    """Share of scheduled checks of the last 24 hours that succeeded, in percent."""
    measured: bool
    """Whether a location voted in the last 30 days; if none did, the other numbers are placeholders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCertificate:
    """The certificate that a location saw last."""

    ends_at: datetime
    """When it expires."""
    days_left: Annotated[int, Example(59)]
    """Whole days until then; negative once it has expired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationState:
    """A monitor as one location sees it."""

    location: Location
    """Name of the location."""
    status: Vote
    """Vote of the location; `unknown` before its first check."""
    consecutive_failures: Annotated[int, Example(0)]
    """Failed checks in a row."""
    failing_since: datetime | None
    """First failed check of a location that votes down."""
    last_checked_at: datetime | None
    """When its newest check ended."""
    response_time: Annotated[int, Example(38)] | None
    """Duration of that check in milliseconds."""
    error: Error | None
    """Error of that check."""
    certificate: Annotated[SeenCertificate | None, Omitted(null=True)] = None
    """Certificate that the location saw last; null if it saw none, omitted if no location saw one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossedThreshold:
    """A threshold of a chain that is crossed now."""

    type: Annotated[str, Example("high_gas")]
    """What was crossed."""
    since: datetime
    """When it was first seen."""
    locations: list[Location]
    """Locations that see it."""
    told: bool
    """Whether it was announced; false while a hold suppresses that."""
    current: Annotated[str, Example("52.1")] | None
    """Present value, as a decimal text."""
    threshold: Annotated[str, Example("50")] | None
    """Value that was crossed, as a decimal text."""
    unit: Annotated[str, Example("gwei")] | None
    """Unit of both."""
    message: Annotated[str, Example("gas costs 52.1 gwei, at or above 50")] | None
    """The same for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredThreshold:
    """A threshold of a chain as a test measured it."""

    type: Annotated[str, Example("high_gas")]
    """What would be crossed."""
    raised: bool
    """Whether it is crossed now."""
    current: Annotated[str, Example("52.1")] | None
    """Present value, as a decimal text."""
    threshold: Annotated[str, Example("50")] | None
    """Value from which it is crossed, as a decimal text."""
    unit: Annotated[str, Example("gwei")] | None
    """Unit of both."""
    message: Annotated[str, Example("gas costs 52.1 gwei, at or above 50")] | None
    """The same for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLog:
    """An event of a contract, or a transfer, that a check read."""

    name: Annotated[str, Example("Transfer")] | None
    """Name of the event."""
    args: dict[str, Any] | None
    """Arguments of the event by name; whole numbers as decimal texts."""
    address: Annotated[str, Example("0xdac17f958d2ee523a2206206994597c13d831ec7")] | None
    """Address of the contract."""
    transaction_hash: (
        Annotated[str, Example("0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060")] | None
    )
    """Hash of the transaction."""
    block_number: Annotated[int, Example(19_000_000)] | None
    """Number of the block."""
    log_index: Annotated[int, Example(12)] | None
    """Place of the event in its block."""
    error: Annotated[str | None, Example("the data does not fit the event"), Omitted()] = None
    """Why the arguments could not be read; present only in that case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptChainLog(ChainLog):
    """An event of a contract, or a transfer, as results keep it."""

    removed: bool
    """Whether a reorganisation of the chain has undone it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedChain:
    """What a test of a Web3 monitor measured and read."""

    alerts: list[MeasuredThreshold]
    """Thresholds, crossed or not."""
    logs: list[ChainLog]
    """Events that were read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedMonitor:
    """The outcome of a check that was run once."""

    success: bool
    """Whether the check succeeded."""
    response_time: Annotated[int, Example(38)]
    """Duration of the check in milliseconds."""
    status_code: Annotated[int, Example(200)] | None
    """Status or code of the answer; null if the protocol has none."""
    message: Annotated[str, Example("It answered in 38 ms")]
    """How it ended, for people."""
    days_left: DaysLeft = None
    """Days until the certificate expires; present if one was seen."""
    web3: Annotated[TestedChain | None, Omitted()] = None
    """What was measured and read of the chain; present for Web3 monitors."""
    warnings: Warnings = None
    """What was ignored of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTarget:
    """The address and secret for reports to a monitor."""

    ping_url: Annotated[str | None, Example("https://tocsin.example.com/v1/ping/0123abcd"), Omitted()] = None
    """URL for pings of a heartbeat: whoever knows it may ping."""
    ingest_url: Annotated[
        str | None,
        Example("https://tocsin.example.com/v1/ingest/prometheus/mon_01kahb5m7q8x9t3v2c4d6e0f1g"),
        Omitted(),
    ] = None
    """URL that `remote_write` of Prometheus sends to."""
    endpoint: Annotated[str | None, Example("https://tocsin.example.com:4317"), Omitted()] = None
    """Endpoint of OTLP."""
    auth_token: Annotated[str | None, Example("tocsin_0123abcd"), Omitted()] = None
    """Token that senders of metrics present."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RotatedKey(ReportTarget):
    """The new key or token of a monitor that receives reports."""

    id: MonitorId
    """Id of the monitor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedMonitor:
    """A monitor that was created."""

    id: MonitorId
    """Id of the monitor."""
    name: Name
    """Name of the monitor."""
    type: Annotated[str, Example("http")]
    """Type of the monitor."""
    status: Shown
    """Status of the monitor."""
    created_at: datetime
    """When it was created."""
    config: Annotated[ReportTarget | None, Omitted()] = None
    """Settings that the service made for a monitor that receives reports; present only for these."""
    warnings: Warnings = None
    """What was ignored of the request, and warnings about the monitor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatedMonitor:
    """A monitor that was changed."""

    id: MonitorId
    """Id of the monitor."""
    name: Name
    """Name of the monitor."""
    interval: Interval
    """Seconds between two checks."""
    updated_at: datetime
    """When it was last changed."""
    revision: Annotated[int, Example(2)]
    """Number of its present version, as in the ETag."""
    warnings: Warnings = None
    """What was ignored of the request, and warnings about the monitor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PausedMonitor:
    """A monitor that was paused."""

    id: MonitorId
    """Id of the monitor."""
    status: Literal["paused"]
    """Status of the monitor."""
    paused_at: datetime
    """When it was paused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumedMonitor:
    """A monitor that was resumed."""

    id: MonitorId
    """Id of the monitor."""
    status: Shown
    """Status of the monitor."""
    resumed_at: datetime
    """When it was resumed, or last changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SilencedMonitor:
    """A monitor that was silenced."""

    silenced_until: datetime
    """Until when its notifications are silenced."""
    reason: Annotated[str, Example("works")] | None
    """Reason for the silence."""
    warnings: Warnings = None
    """What was ignored of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedChange:
    """A monitor for which an action failed."""

    id: MonitorId
    """Id of the monitor."""
    message: Annotated[str, Example("Monitor not found")]
    """Why it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedMonitors:
    """The outcome of an action on many monitors."""

    action: Literal["pause", "resume", "silence", "unsilence", "tag", "untag", "delete"]
    """Action that was carried out."""
    matched: Annotated[int, Example(2)]
    """Number of monitors that the filter selected."""
    changed: Annotated[int, Example(2)]
    """Number of these that changed."""
    ids: list[MonitorId]
    """Ids of the changed monitors."""
    failed: list[FailedChange]
    """Monitors for which the action failed; it continued with the others."""
    warnings: Warnings = None
    """What was ignored of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """Durations of the phases of a check in milliseconds; null for a phase that it lacks."""

    dns: Milliseconds | None
    """Looking up the name."""
    connect: Milliseconds | None
    """Opening the connection."""
    tls: Milliseconds | None
    """The TLS handshake."""
    first_byte: Milliseconds | None
    """From the request to the first byte of the answer."""
    transfer: Milliseconds | None
    """From the first byte to the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BareResult:
    """The outcome of a check."""

    timestamp: datetime
    """When the check began."""
    status: Vote
    """Outcome; `unknown` if the probe could not tell."""
    response_time: Annotated[int, Example(38)]
    """Duration in milliseconds."""
    location: Location
    """Location of the probe."""
    status_code: Annotated[int, Example(200)] | None
    """Status or code of the answer; null if there is none."""
    error: Error | None
    """Why it did not succeed."""
    days_left: DaysLeft = None
    """Days until the certificate expires; present if one was seen."""
    samples: Annotated[int | None, Example(420), Omitted()] = None
    """Number of samples that were received; present only for metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorResult(BareResult):
    """A result of a monitor."""

    phases: Phases
    """Durations of its parts."""
    body: Annotated[str | None, Example("disk is full"), Omitted()] = None
    """Body of the ping; present if there was one."""
    logs: Annotated[list[KeptChainLog] | None, Omitted()] = None
    """Events that were read of a chain; present if there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedResult(BareResult):
    """A result and its effect."""

    run: Annotated[str, Example("scheduled")]
    """Why the check ran."""
    did: Annotated[str, Example("counted")] | None
    """Its effect; null if unknown."""
    consecutive_failures: Annotated[int, Example(0)] | None
    """Failed checks in a row after it; null if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsMeta:
    """The range and page of these results."""

    total: Annotated[int, Example(1440)]
    """Number of results in the range."""
    from_: datetime
    """First moment of the range."""
    to: datetime
    """Last moment of the range."""
    limit: Annotated[int, Example(100)]
    """Maximum number of results on a page."""
    next: Annotated[str, Example("MTc2Mzcy")] | None
    """Value of `cursor` for the next page; null on the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorResults:
    """A page of results."""

    data: list[MonitorResult]
    """The results, newest first."""
    meta: ResultsMeta
    """The range and page of these results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Numbers of a step of time; null if nothing was measured."""

    from_: Timestamp
    """Start of the step."""
    to: Timestamp
    """End of the step."""
    uptime: Percent | None
    """Uptime in percent of the known time."""
    checks: Annotated[int, Example(60)]
    """Number of checks."""
    check_success: Percent | None
    """Share of scheduled checks that succeeded, in percent."""
    avg_latency: Latency | None
    """Average response time of successful checks, in milliseconds."""
    p50: Annotated[float, Example(36)] | None
    """Median of the response times, in milliseconds."""
    p95: Annotated[float, Example(61)] | None
    """95th percentile of the response times, in milliseconds."""
    p99: Annotated[float, Example(120)] | None
    """99th percentile of the response times, in milliseconds."""
    known_seconds: Annotated[float, Example(3600)]
    """Seconds for which the monitor's state is known."""
    outage_seconds: Annotated[float, Example(0)]
    """Seconds for which it was down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationPoints:
    """The numbers of one location."""

    location: Location
    """Name of the location."""
    data: list[Point]
    """Its steps, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartMeta:
    """The span of the numbers."""

    from_: datetime
    """First moment."""
    to: datetime
    """Last moment."""
    step: Annotated[int, Example(3600)]
    """Length of a step in seconds."""
    percentile_error: Annotated[float, Example(0.04)]
    """Largest relative error of the percentiles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorChart:
    """Numbers over time."""

    data: list[Point]
    """Steps of all locations together, oldest first."""
    locations: list[LocationPoints]
    """The same for each location."""
    total: Point
    """Numbers of the whole span."""
    meta: ChartMeta
    """The span of the numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UptimeDay:
    """A day of a monitor."""

    date: Annotated[str, Example("2026-11-21")]
    """The day, in UTC."""
    uptime: Percent | None
    """Uptime in percent; null if unknown."""
    outage_seconds: Annotated[float, Example(0)]
    """Seconds for which it was down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorUptime:
    """The days of a monitor."""

    id: MonitorId
    """Id of the monitor."""
    uptime: Percent | None
    """Uptime of all these days, in percent."""
    days: list[UptimeDay]
    """The days, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorUptimes:
    """The days of several monitors."""

    data: list[MonitorUptime]
    """The monitors, in the requested order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorDetails:
    """A monitor with its settings and its numbers."""

    id: MonitorId
    """Id of the monitor."""
    status: Shown
    """Status: a monitor that was never measured is up, see `stats.measured`."""
    name: Name
    """Name of the monitor."""
    interval: Interval
    """Seconds between two checks."""
    timeout: Annotated[int, Example(10)]
    """Seconds until a check gives up."""
    locations: list[Location]
    """Locations that check it."""
    tags: Tags
    """Tags by name."""
    description: Annotated[str, Example("The shop's front page")]
    """Text for people; empty without one."""
    severity: Severity
    """Severity of the incidents that it raises."""
    failure_threshold: Annotated[int, Example(3)]
    """Failed checks in a row after which a location votes down."""
    recovery_threshold: Annotated[int, Example(1)]
    """Successful checks in a row after which a location votes up again."""
    quorum: Annotated[Literal["majority", "any", "all"] | int, Example("majority")]
    """Locations that must vote down for the monitor to be down."""
    group: Annotated[str, Example("web")] | None
    """Name of the group that it is listed under."""
    depends_on: list[MonitorId]
    """Ids of the monitors that it depends on."""
    runbook_url: Annotated[str, Example("https://example.com/runbooks/shop")] | None
    """URL of the instructions for its incidents."""
    stats: MonitorStats
    """Its numbers."""
    revision: Revision
    """Number of its present version, as in the ETag."""
    last_checked_at: datetime | None
    """When its newest check ended."""
    silenced_until: datetime | None
    """Until when its notifications are silenced; null if they are not."""
    paused_at: datetime | None
    """When it was paused; null if it is not."""
    location_states: list[LocationState]
    """How each location sees it."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    alerts: Annotated[list[CrossedThreshold] | None, Omitted()] = None
    """Thresholds of a chain that are crossed now; present for Web3 monitors."""
    warnings: Annotated[list[Annotated[str, Example("not measured yet")]] | None, Omitted()] = None
    """Warnings about the monitor."""
