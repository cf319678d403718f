"""Summarizes Web3 events for people: thresholds, transfers, contract events."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from collector.history.core.phase import Phase, text
from collector.platform.log_words import arguments, one_line

# The first parts of Web3 event kinds.
KINDS: Final = "web3."
_RECOVERED: Final = "_recovered"
_REMOVED: Final = "_removed"
_MOST_DIGITS: Final = 100


def phase(event: Mapping[str, Any]) -> Phase:
    """The alert's phase: only thresholds recover; all other events are news."""
    type_ = text(event, "alert", "type")
    if not type_ or "log" in event or type_.endswith(_REMOVED):
        return Phase.NEWS
    return Phase.OVER if type_.endswith(_RECOVERED) else Phase.PROBLEM


def key(event: Mapping[str, Any]) -> str:
    """One key per threshold of a monitor; crossing it and recovering share the key."""
    return f"{text(event, 'monitor', 'id')}.{_type(event)}"


def reason(event: Mapping[str, Any]) -> str:
    """The reason of an alert, from a rule or from a Web3 monitor: ``high_gas: gas costs 251.3 gwei, ...``."""
    message = text(event, "alert", "message")
    fired_for = text(event, "alert", "reason")
    if not fired_for:
        return ": ".join(filter(None, (_type(event), message)))
    if message:
        return message
    value, threshold = text(event, "alert", "value"), text(event, "alert", "threshold")
    return f"{fired_for}: {value}, threshold {threshold}" if value and threshold else fired_for


def facts(event: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Labels and values; empty if the event has none."""
    if not text(event, "event").startswith(KINDS):
        return []
    log = event.get("log")
    return [
        ("Chain", text(event, "monitor", "chain")),
        ("Measured", _measured(event, "current")),
        ("Threshold", _measured(event, "threshold")),
        ("Event", one_line(text(event, "log", "name"))),
        ("Arguments", arguments(log.get("args")) if isinstance(log, Mapping) else ""),
        ("Contract", text(event, "log", "address")),
        ("Transaction", text(event, "log", "transactionHash")),
        ("Block", text(event, "log", "blockNumber")),
    ]


def _type(event: Mapping[str, Any]) -> str:
    return text(event, "alert", "type").removesuffix(_RECOVERED).removesuffix(_REMOVED)


def _measured(event: Mapping[str, Any], name: str) -> str:
    if gwei := text(event, "alert", f"{name}Gwei"):
        return f"{_plain(gwei)} gwei"
    value = text(event, "alert", name)
    return f"{value} {text(event, 'alert', 'unit')}".strip() if value else ""


def _plain(number: str) -> str:
    """The number without an exponent: on some chains gas costs next to nothing."""
    try:
        found = Decimal(number)
    except InvalidOperation:
        return number
    return f"{found:f}" if found.is_finite() and abs(found.adjusted()) < _MOST_DIGITS else number
