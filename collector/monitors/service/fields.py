"""Parses and validates the body of a request about a monitor: common fields and those of its type."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from collector.monitors.service import receivers
from collector.platform.masks import kept
from collector.platform.monitor import DEFAULT_INTERVAL, MonitorSettings, Trial, merge
from collector.platform.validation.shapes import members
from collector.platform.validation.validation import Read, read, to_json
from collector.web3.service import fields
from collector.web3.service import nodes as web3_nodes
from collector.web3.service.nodes import NONE, Nodes
from shared.errors import Invalid
from shared.kinds import KINDS, RECEIVING, TYPES, WEB3, Kind

S = TypeVar("S", MonitorSettings, Trial)

# Fields that a GET shows and no caller can set.
_SHOWN = frozenset(
    {
        "id",
        "status",
        "url",
        "stats",
        "revision",
        "createdAt",
        "updatedAt",
        "lastCheckedAt",
        "silencedUntil",
        "silenceReason",
        "pausedAt",
        "locationStates",
        "alerts",
        "warnings",
    }
)
_PLATFORM_ONLY = "agent_metrics"
# Common fields that may be in the configuration too, where they take precedence.
_WITHIN = {"http": ("timeout",), **dict.fromkeys(WEB3, ("interval", "timeout"))}


@dataclass(slots=True)
class _Parts:
    """A body taken apart; *kind* is None for an unknown type."""

    kind: str | None
    settings: dict[str, Any]
    config: dict[str, Any]
    unknown: list[str] = field(default_factory=list)
    faults: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MonitorRequest(Generic[S]):
    """A parsed body; *settings* and *kind* are set unless there are *faults*.

    *type*: as the monitor is stored and shown; *warnings*: for the caller.
    """

    type: str
    settings: S | None
    kind: Kind | None
    faults: dict[str, str]
    unknown: list[str]
    warnings: list[str]

    def checked(self, more: Mapping[str, str] | None = None) -> tuple[S, Kind]:
        """Return the settings and the kind. Raises Invalid with all faults, including *more*."""
        faults = {**self.faults, **(more or {})}
        if faults or self.settings is None or self.kind is None:
            raise Invalid(faults)
        return self.settings, self.kind


def for_create(
    body: Mapping[str, Any], min_interval: int, nodes: Nodes = NONE
) -> MonitorRequest[MonitorSettings]:
    """Parse a new monitor with every default; *nodes*: Web3 nodes of the deployment."""
    type_ = fields.type_of(body.get("type"))
    parts = _take_apart(type_, body, MonitorSettings)
    _fill_interval(parts, min_interval)
    return _read(MonitorSettings, type_, parts, nodes)


def for_test(body: Mapping[str, Any], nodes: Nodes = NONE) -> MonitorRequest[Trial]:
    """Parse a test; a monitor's other fields are accepted and ignored."""
    type_ = fields.type_of(body.get("type"))
    parts = _take_apart(type_, body, Trial)
    if parts.kind in RECEIVING:
        parts.faults["type"] = "only receives: there is nothing to test"
    parts.unknown = [name for name in parts.unknown if name not in members(MonitorSettings)]
    return _read(Trial, type_, parts, nodes)


def for_update(
    body: Mapping[str, Any],
    type_: str,
    settings: MonitorSettings,
    config: Mapping[str, Any],
    min_interval: int,
    nodes: Nodes = NONE,
) -> MonitorRequest[MonitorSettings]:
    """Parse an update: fields that are sent replace, *config* (whole, with secrets) merges."""
    parts = _take_apart(type_, body, MonitorSettings, config)
    if fields.type_of(body.get("type", type_)) != type_:
        parts.faults["type"] = f"cannot be changed; it is {type_}"
    if parts.kind in WEB3 and parts.config.get("subType") != parts.kind:
        parts.faults["subType"] = f"cannot be changed; it is {parts.kind}"
        parts.config["subType"] = parts.kind
    # If a GET shows a field twice and only one of them was changed, the change counts.
    if parts.settings.get("interval") == settings.interval and body.get("interval") is not None:
        parts.settings["interval"] = body["interval"]
    if parts.settings.get("interval", settings.interval) != settings.interval:
        _fill_interval(parts, min_interval)
    parts.settings = {**to_json(settings), **parts.settings}
    parts.config = merge(config, kept(parts.config, config))
    return _read(MonitorSettings, type_, parts, nodes)


def stored(kind: Kind) -> dict[str, Any]:
    """Return the configuration as stored; the timeout is a column of the monitor."""
    config = to_json(kind)
    config.pop("timeout", None)
    return config


def _take_apart(
    type_: Any,
    body: Mapping[str, Any],
    of: type[MonitorSettings] | type[Trial],
    before: Mapping[str, Any] | None = None,
) -> _Parts:
    """*before*: the configuration of an existing monitor."""
    config = body.get("config")
    own = members(of)
    parts = _Parts(None, {name: body[name] for name in own if name in body}, {})
    if config is not None and not isinstance(config, dict):
        parts.faults["config"] = "must be an object"
    said = config if isinstance(config, dict) else {}
    parts.kind, faults = fields.kind_of(type_, body, said if before is None else before)
    parts.faults |= faults
    if not isinstance(parts.kind, str) or parts.kind not in KINDS:
        if not faults:
            parts.faults["type"] = _why_not(type_)
        parts.kind = None
        return parts
    parts.config = _configuration(parts.kind, body, said, parts)
    known = {*own, *fields.names(parts.kind), *_SHOWN, "type", "config"}
    parts.unknown = [name for name in body if name not in known]
    return parts


def _configuration(
    kind: str, body: Mapping[str, Any], config: Mapping[str, Any], parts: _Parts
) -> dict[str, Any]:
    """Return the type's fields: those in *config*, else those beside it; common ones go to the settings."""
    within = _WITHIN.get(kind, ())
    beside = {name: body[name] for name in fields.names(kind) if name in body and name not in within}
    if kind in WEB3 and beside.get("url", "") is None:
        del beside["url"]  # lists show it as null for all types but http
    whole = {**beside, **config}
    for name in receivers.MADE.get(kind, ()):
        whole.pop(name, None)
    parts.settings |= {name: whole.pop(name) for name in within if name in whole}
    return fields.as_kept(kind, whole)


def _fill_interval(parts: _Parts, least: int) -> None:
    """Apply the operator's shortest interval to a sent interval, and to the default."""
    interval = parts.settings.get("interval")
    if interval is None:
        parts.settings["interval"] = max(DEFAULT_INTERVAL, least)
    elif isinstance(interval, int | float) and not isinstance(interval, bool) and interval < least:
        parts.faults["interval"] = f"must be between {least} and 86400"


def _read(of: type[S], type_: Any, parts: _Parts, nodes: Nodes) -> MonitorRequest[S]:
    settings = read(of, parts.settings)
    faults = {**settings.faults, **parts.faults}
    if parts.kind is None:
        return MonitorRequest(str(type_), settings.value, None, faults, parts.unknown, [])
    kind: Read[Kind] = read(KINDS[parts.kind], parts.config)
    unknown = parts.unknown + [f"config.{name}" for name in kind.unknown]
    beyond = web3_nodes.faults(parts.kind, parts.config, kind.faults, nodes)
    beyond |= receivers.faults(parts.kind, parts.config, kind.faults)
    faults = {**kind.faults, **beyond, **faults}
    nodeless: list[str] = [] if faults else web3_nodes.warnings(parts.kind, parts.config, nodes)
    return MonitorRequest(type_, settings.value, kind.value, faults, unknown, [*kind.warnings, *nodeless])


def _why_not(type_: Any) -> str:
    if type_ is None:
        return "Type is required"
    if type_ == _PLATFORM_ONLY:
        return "is made by the platform only"
    return f"must be one of {', '.join(TYPES)}"
