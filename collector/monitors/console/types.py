"""Monitor types in groups, and the form fields of each."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from collector.console.forms import edits
from collector.monitors.service import receivers
from shared.kinds import WEB3, effective

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
# How many fields come first; the others are collapsed.
_USUAL: Final = 5
_FIRST: Final = {
    "gas_price": 3,
    "subgraph": 4,
    "whale_wallet": 6,
    "liquidation": 6,
    "defi_protocol": 11,
    "bridge": 4,
    "web3_contract_event": 6,
}


def left_out(kind: str) -> set[str]:
    return {*_ONCE, *receivers.MADE.get(kind, ()), *_REPORTING.get(kind, ())}


def first(kind: str) -> int:
    return _FIRST.get(kind, _USUAL)


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
