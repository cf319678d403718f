"""Parses and validates the body of a request about a monitor: common fields and those of its type."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar

from collector.monitors.answers import MonitorDetails, MonitorItem
from collector.monitors.service import receivers
from collector.monitors.service.requested_kind import RequestedKind, requested, shown_type
from collector.platform.answer_json import read_only
from collector.platform.masks import kept
from collector.platform.monitor import DEFAULT_INTERVAL, MonitorSettings, Trial, merge
from collector.platform.validation.shapes import members
from collector.platform.validation.validation import ParseResult, ignored, read, to_json
from collector.web3.service import nodes as web3_nodes
from collector.web3.service.nodes import NONE, Nodes
from shared.errors import Invalid
from shared.kinds import RECEIVING, Kind

S = TypeVar("S", MonitorSettings, Trial)

# Fields that a GET shows and no caller can set.
_READ_ONLY: Final = read_only(MonitorDetails, MonitorSettings) | read_only(MonitorItem, MonitorSettings)


@dataclass(slots=True)
class _Parts:
    """A body taken apart; *kind* is None for an unknown type."""

    kind: RequestedKind | None
    settings: dict[str, Any]
    faults: dict[str, str]
    unknown: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MonitorRequest(Generic[S]):
    """A parsed body; *settings* and *kind* are set unless there are *faults*.

    *type*: as the monitor is stored and shown; *unknown*: names of ignored fields.
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

    def all_warnings(self) -> list[str]:
        """Return the warnings for the caller, those about ignored fields and about its timeout too."""
        warnings = [*ignored(self.unknown), *self.warnings]
        settings = self.settings
        if isinstance(settings, MonitorSettings) and settings.timeout > settings.interval:
            warnings.append(
                f"timeout ({settings.timeout} s) is longer than interval ({settings.interval} s): "
                f"a check takes {settings.interval} s at most"
            )
        return warnings


def for_create(
    body: Mapping[str, Any], min_interval: int, nodes: Nodes = NONE
) -> MonitorRequest[MonitorSettings]:
    """Parse a new monitor with every default; *nodes*: Web3 nodes of the deployment."""
    parts = _take_apart(body, MonitorSettings)
    _fill_interval(parts, min_interval)
    return _read(MonitorSettings, body, parts, nodes)


def for_test(body: Mapping[str, Any], nodes: Nodes = NONE) -> MonitorRequest[Trial]:
    """Parse a test; a monitor's other fields are accepted and ignored."""
    parts = _take_apart(body, Trial)
    if parts.kind and parts.kind.name in RECEIVING:
        parts.faults["type"] = "only receives: there is nothing to test"
    parts.unknown = [name for name in parts.unknown if name not in members(MonitorSettings)]
    return _read(Trial, body, parts, nodes)


def for_update(
    body: Mapping[str, Any],
    type_: str,
    settings: MonitorSettings,
    config: Mapping[str, Any],
    min_interval: int,
    nodes: Nodes = NONE,
) -> MonitorRequest[MonitorSettings]:
    """Parse an update: fields that are sent replace, *config* (whole, with secrets) merges."""
    parts = _take_apart(body, MonitorSettings, (type_, config))
    # If a GET shows a field twice and only one of them was changed, the change counts.
    if parts.settings.get("interval") == settings.interval and body.get("interval") is not None:
        parts.settings["interval"] = body["interval"]
    if parts.settings.get("interval", settings.interval) != settings.interval:
        _fill_interval(parts, min_interval)
    parts.settings = {**to_json(settings), **parts.settings}
    if parts.kind:
        merged = merge(config, kept(parts.kind.config, config))
        parts.kind = replace(parts.kind, config=merged)
    return _read(MonitorSettings, body, parts, nodes)


def stored(kind: Kind) -> dict[str, Any]:
    """Return the configuration as stored; the timeout is a column of the monitor."""
    config = to_json(kind)
    config.pop("timeout", None)
    return config


def _take_apart(
    body: Mapping[str, Any],
    of: type[MonitorSettings] | type[Trial],
    before: tuple[str, Mapping[str, Any]] | None = None,
) -> _Parts:
    """*before*: the type and the configuration of an existing monitor."""
    own = members(of)
    kind, faults = requested(body, before)
    parts = _Parts(kind, {name: body[name] for name in own if name in body}, faults)
    if kind:
        for name in receivers.MADE.get(kind.name, ()):
            kind.config.pop(name, None)
        parts.settings |= kind.within
        known = {*own, *kind.accepted, *_READ_ONLY, "type", "config"}
        parts.unknown = [name for name in body if name not in known]
    return parts


def _fill_interval(parts: _Parts, least: int) -> None:
    """Apply the operator's shortest interval to a sent interval, and to the default."""
    interval = parts.settings.get("interval")
    if interval is None:
        parts.settings["interval"] = max(DEFAULT_INTERVAL, least)
    elif isinstance(interval, int | float) and not isinstance(interval, bool) and interval < least:
        parts.faults["interval"] = f"must be between {least} and 86400"


def _read(of: type[S], body: Mapping[str, Any], parts: _Parts, nodes: Nodes) -> MonitorRequest[S]:
    settings, kind = read(of, parts.settings), parts.kind
    faults = {**settings.faults, **parts.faults}
    if kind is None:
        return MonitorRequest(shown_type(body), settings.value, None, faults, parts.unknown, [])
    config: ParseResult[Kind] = read(kind.cls, kind.config)
    unknown = parts.unknown + [f"config.{name}" for name in config.unknown]
    beyond = web3_nodes.faults(kind.name, kind.config, config.faults, nodes)
    beyond |= receivers.faults(kind.name, kind.config, config.faults)
    faults = {**config.faults, **beyond, **faults}
    nodeless: list[str] = [] if faults else web3_nodes.warnings(kind.name, kind.config, nodes)
    warnings = [*config.warnings, *nodeless]
    return MonitorRequest(kind.stored_as, settings.value, config.value, faults, unknown, warnings)
