"""Reads the body of a request for a monitor: which of its fields are the monitor's, which its type's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from collector.core.monitor import DEFAULT_INTERVAL, Settings, Trial, merge
from collector.services import receiving
from collector.services._shapes import members
from collector.services.masking import kept
from collector.services.validation import read, to_json
from shared.errors import Invalid
from shared.kinds import KINDS, NOT_YET, RECEIVING, Kind

S = TypeVar("S", Settings, Trial)

# What a GET shows and nobody sets.
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
        "warnings",
    }
)
_PLATFORM_ONLY = "agent_metrics"


@dataclass(slots=True)
class _Parts:
    """A body taken apart."""

    settings: dict[str, Any]
    config: dict[str, Any]
    unknown: list[str] = field(default_factory=list)
    faults: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wish(Generic[S]):
    """What a body asks for; *settings* and *kind* are there when *faults* are not."""

    settings: S | None
    kind: Kind | None
    faults: dict[str, str]
    unknown: list[str]

    def checked(self, more: Mapping[str, str] | None = None) -> tuple[S, Kind]:
        """The settings and the kind. Raises Invalid with all faults, *more* of them included."""
        faults = {**self.faults, **(more or {})}
        if faults or self.settings is None or self.kind is None:
            raise Invalid(faults)
        return self.settings, self.kind


def for_create(body: Mapping[str, Any], min_interval: int) -> Wish[Settings]:
    """A new monitor, every default filled in."""
    parts = _take_apart(body.get("type"), body, Settings)
    _fill_interval(parts, min_interval)
    return _read(Settings, body.get("type"), parts)


def for_test(body: Mapping[str, Any]) -> Wish[Trial]:
    """What is to be checked once; a monitor's other fields are welcome and ignored."""
    parts = _take_apart(body.get("type"), body, Trial)
    if body.get("type") in RECEIVING:
        parts.faults["type"] = "only receives: there is nothing to test"
    parts.unknown = [name for name in parts.unknown if name not in members(Settings)]
    return _read(Trial, body.get("type"), parts)


def for_update(
    body: Mapping[str, Any], type_: str, settings: Settings, config: Mapping[str, Any], min_interval: int
) -> Wish[Settings]:
    """The monitor as it would be: fields that are sent replace, *config* (whole, secrets too) merges."""
    parts = _take_apart(type_, body, Settings)
    if body.get("type", type_) != type_:
        parts.faults["type"] = f"cannot be changed; it is {type_}"
    if parts.settings.get("interval", settings.interval) != settings.interval:
        _fill_interval(parts, min_interval)
    parts.settings = {**to_json(settings), **parts.settings}
    parts.config = merge(config, kept(parts.config, config))
    return _read(Settings, type_, parts)


def stored(kind: Kind) -> dict[str, Any]:
    """The configuration as it is kept; the timeout stands with the monitor."""
    config = to_json(kind)
    config.pop("timeout", None)
    return config


def _take_apart(type_: Any, body: Mapping[str, Any], of: type[Settings] | type[Trial]) -> _Parts:
    config = body.get("config")
    faults = {}
    if config is not None and not isinstance(config, dict):
        faults["config"] = "must be an object"
    own = members(of)
    parts = _Parts({name: body[name] for name in own if name in body}, {}, faults=faults)
    cls = KINDS.get(type_) if isinstance(type_, str) else None
    if cls is None:
        parts.faults["type"] = _why_not(type_)
        return parts
    parts.config = _configuration(type_, body, config if isinstance(config, dict) else {}, parts)
    kind = members(cls)
    known = {*own, *kind, *_SHOWN, "type", "config"}
    parts.unknown = [name for name in body if name not in known]
    return parts


def _configuration(
    type_: str, body: Mapping[str, Any], config: Mapping[str, Any], parts: _Parts
) -> dict[str, Any]:
    """The type's fields: those in *config*, else those beside it; the timeout goes to the settings."""
    kind = members(KINDS[type_])
    beside = {name: body[name] for name in kind if name in body and name != "timeout"}
    whole = {**beside, **config}
    for name in receiving.MADE.get(type_, ()):
        whole.pop(name, None)
    if "timeout" in kind and "timeout" in whole:
        parts.settings["timeout"] = whole.pop("timeout")
    return whole


def _fill_interval(parts: _Parts, least: int) -> None:
    """The operator's shortest interval bounds what is sent, and what is not."""
    interval = parts.settings.get("interval")
    if interval is None:
        parts.settings["interval"] = max(DEFAULT_INTERVAL, least)
    elif isinstance(interval, int | float) and not isinstance(interval, bool) and interval < least:
        parts.faults["interval"] = f"must be between {least} and 86400"


def _read(of: type[S], type_: Any, parts: _Parts) -> Wish[S]:
    settings = read(of, parts.settings)
    faults = {**settings.faults, **parts.faults}
    if not isinstance(type_, str) or type_ not in KINDS:
        return Wish(settings.value, None, faults, parts.unknown)
    kind = read(KINDS[type_], parts.config)
    unknown = parts.unknown + [f"config.{name}" for name in kind.unknown]
    beyond = receiving.faults(kind.value) if kind.value is not None else {}
    return Wish(settings.value, kind.value, {**kind.faults, **beyond, **faults}, unknown)


def _why_not(type_: Any) -> str:
    if type_ is None:
        return "Type is required"
    if type_ == _PLATFORM_ONLY:
        return "is made by the platform only"
    if type_ in NOT_YET:
        return f"{type_} does not run yet"
    return f"must be one of {', '.join(KINDS)}"
