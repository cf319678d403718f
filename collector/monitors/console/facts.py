"""The configuration of a monitor in words: labels of the form, units, and no names of the API."""

from collections.abc import Mapping
from typing import Any, Final

from collector.console.forms.texts import label, said
from collector.console.language import gettext, translate
from collector.console.render import size, span
from collector.monitors.console import types
from collector.monitors.service.reads import CompleteMonitor
from collector.platform.validation.model_fields import Member, members, shape
from shared.kinds import KINDS, RECEIVING

_BYTES: Final = ("maxBodyBytes", "bodyBytes", "maxBytes")
_SECONDS: Final = ("staleAfter", "expectedInterval", "gracePeriod", "maxRunTime", "minInterval")


def of(found: CompleteMonitor) -> list[tuple[str, str]]:
    """Return labels and texts of what is set."""
    monitor = found.monitor
    kind = KINDS[types.kind_of(monitor.type, found.config)]
    known = members(kind)
    own = [
        (said(kind, name).label, _text(name, value, _records(known, name), said(kind, name).unit))
        for name, value in types.shown_settings(monitor.type, found.config).items()
    ]
    if monitor.type in RECEIVING:
        return own
    locations = ("Locations", ", ".join(monitor.locations))
    return [*own, ("Interval", span(monitor.interval_s)), ("Timeout", span(monitor.timeout_s)), locations]


def target(config: Mapping[str, Any]) -> str:
    """Return what is checked, for the head of the page; empty if it is no address."""
    for name in ("url", "host", "domain", "hostname"):
        value = config.get(name)
        if isinstance(value, str) and value:
            port = config.get("port")
            return f"{value}:{port}" if port and "://" not in value else value
    return ""


def _records(known: Mapping[str, Member], name: str) -> bool:
    """Whether the members of a value have names of the API, unlike those of headers."""
    if name not in known:
        return False
    form = shape(known[name].hint)
    items = form.items()
    return form.record() is not None or (items is not None and shape(items).record() is not None)


def _text(name: str, value: Any, records: bool = False, unit: str = "") -> str:
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if name in _BYTES and isinstance(value, int):
        return size(value)
    if name in _SECONDS and isinstance(value, int):
        return span(value)
    if isinstance(value, Mapping):
        parts = {key: part for key, part in value.items() if part not in (None, "", [], {})}
        names = {key: translate(label(key)) if records else key for key in parts}
        return ", ".join(f"{names[key]}: {_text(key, part, records)}" for key, part in parts.items())
    if isinstance(value, list):
        return ", ".join(_text("", part, records) for part in value)
    return f"{value} {unit}".rstrip()
