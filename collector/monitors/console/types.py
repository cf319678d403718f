"""Monitor types in groups, and the form fields of each."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from collector.console.forms import edits
from collector.console.forms.fields import FormField
from collector.monitors.service import receivers
from shared import url_secrets
from shared.kinds import RECEIVING, WEB3, effective

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "Web and network": ("http", "tcp", "icmp", "tls", "dns", "websocket", "grpc"),
    "Mail and databases": ("smtp", "imap", "pop3", "postgres", "mysql", "redis"),
    "Push (heartbeats and metrics)": ("heartbeat", "prometheus", "opentelemetry"),
    "Web3": WEB3,
}
# These fields are among the settings, or follow from the type.
_ONCE: Final = frozenset({"timeout", "subType"})
# The secrets of jobs and senders; the service makes them, and the monitor's page rotates them.
_REPORTING: Final[Mapping[str, tuple[str, ...]]] = {
    "heartbeat": ("pingKey",),
    "prometheus": ("authToken",),
    "opentelemetry": ("authToken",),
}
# How many fields come first; the others are folded.
_USUAL: Final = 1
_FIRST: Final = {
    "tcp": 2,
    "tls": 2,
    "dns": 2,
    "grpc": 2,
    "heartbeat": 4,
    "prometheus": 3,
    "opentelemetry": 4,
    "gas_price": 3,
    "subgraph": 4,
    "whale_wallet": 6,
    "liquidation": 6,
    "defi_protocol": 11,
    "bridge": 4,
    "web3_contract_event": 6,
}
# Settings of all types that mean nothing where nothing is checked.
_OF_CHECKS: Final = (
    "timeout",
    "locations",
    "quorum",
    "failureThreshold",
    "recoveryThreshold",
)
# What a URL without a scheme is completed by.
_SCHEMES: Final[Mapping[str, str]] = {"http": "https://", "websocket": "wss://", "subgraph": "https://"}


def left_out(kind: str) -> set[str]:
    return {*_ONCE, *receivers.MADE.get(kind, ()), *_REPORTING.get(kind, ())}


def divided(kind: str, fields: Sequence[FormField]) -> tuple[list[FormField], list[FormField]]:
    """Return the fields that come first, with all that must be filled in, and the rest."""
    count = _FIRST.get(kind, _USUAL)
    foremost = [
        field
        for at, field in enumerate(fields)
        if at < count or (field.required and field.control != "choice")
    ]
    return foremost, [field for field in fields if field not in foremost]


def settings_left_out(kind: str) -> set[str]:
    """Return the settings of all types that this type has no use for."""
    if kind not in RECEIVING:
        return set()
    return {*_OF_CHECKS, *(("interval",) if kind == "heartbeat" else ())}


def completed(kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return *config* with ``example.com`` as ``https://example.com``."""
    url, scheme = config.get("url"), _SCHEMES.get(kind)
    if scheme is None or not isinstance(url, str) or not url or "://" in url or url_secrets.MASK in url:
        return dict(config)
    return {**config, "url": f"{scheme}{url}"}


def usual_name(config: Mapping[str, Any]) -> str | None:
    """Return the target of *config* as a name for the monitor; None if it names none."""
    target = config.get("url") or config.get("domain") or config.get("host")
    if not isinstance(target, str) or not target:
        return None
    host, port = (_host(target) if "://" in target else target), config.get("port")
    if host is None or not port:
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def changes(shown: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return *sent* as a merge patch of the rendered values; emptied or removed ones become null."""
    return {name: edits.patch(shown.get(name), _alike(shown.get(name), one)) for name, one in sent.items()}


def _alike(shown: Any, sent: Any) -> Any:
    """Return a single line as a list of one if the value was a list."""
    if isinstance(shown, Mapping) and isinstance(sent, Mapping):
        return {name: _alike(shown.get(name), one) for name, one in sent.items()}
    return [sent] if isinstance(shown, list) and isinstance(sent, str) else sent


def kind_of(type_: str, config: Mapping[str, Any]) -> str:
    """Return the type whose form an existing monitor has."""
    return effective(type_, config)


def shown_settings(type_: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a page shows of *config*, without an ABI, which is too long to read.

    Reporting secrets have a section of their own.
    """
    elsewhere = {"abi", *_REPORTING.get(type_, ())}
    return {
        name: one for name, one in config.items() if one not in (None, "", [], {}) and name not in elsewhere
    }


def drawn(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return *config* as the form's fields have it: an ABI that was sent as text becomes JSON."""
    abi = config.get("abi")
    if not isinstance(abi, str):
        return dict(config)
    try:
        return {**config, "abi": orjson.loads(abi)}
    except orjson.JSONDecodeError:
        return dict(config)
