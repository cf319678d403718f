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
# Those stand with the settings, or are said by the type.
_ONCE: Final = frozenset({"timeout", "subType"})
# The secrets by which jobs and senders report; each is made by the service, and rotated on its page.
_REPORTING: Final[Mapping[str, tuple[str, ...]]] = {
    "heartbeat": ("pingKey",),
    "prometheus": ("authToken",),
    "opentelemetry": ("authToken",),
}
# How many fields stand first; the others are folded away.
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
    """*sent* as a merge patch of what the form was drawn of: what was emptied or taken out goes."""
    return {name: edits.patch(shown.get(name), _alike(shown.get(name), one)) for name, one in sent.items()}


def _alike(shown: Any, sent: Any) -> Any:
    """A single line is a list of one where it was that."""
    if isinstance(shown, Mapping) and isinstance(sent, Mapping):
        return {name: _alike(shown.get(name), one) for name, one in sent.items()}
    return [sent] if isinstance(shown, list) and isinstance(sent, str) else sent


def kind_of(type_: str, config: Mapping[str, Any]) -> str:
    """Of a monitor that is there: the type whose form it has."""
    return effective(type_, config)


def told(type_: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """What a page says of *config*: what is set, but for an ABI, which nobody reads there.

    What a monitor is reported by has a place of its own.
    """
    elsewhere = {"abi", *_REPORTING.get(type_, ())}
    return {
        name: one for name, one in config.items() if one not in (None, "", [], {}) and name not in elsewhere
    }


def drawn(config: Mapping[str, Any]) -> dict[str, Any]:
    """*config* as the form's fields hold it: an ABI that was sent as text is JSON all the same."""
    abi = config.get("abi")
    if not isinstance(abi, str):
        return dict(config)
    try:
        return {**config, "abi": orjson.loads(abi)}
    except orjson.JSONDecodeError:
        return dict(config)
