"""Reasons to alert from Web3 findings: crossed thresholds, and single events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isfinite
from typing import Any, Final

from collector.platform.log_words import arguments, one_line
from shared.kinds import OF_CHAINS

# The alert reason for a contract event.
EVENT: Final = "event"
_SHORTEST: Final = timedelta(minutes=2)
_MOST_WORDS: Final = 300
_MOST_SAID: Final = 5


@dataclass(frozen=True, slots=True)
class NotifiedCrossing:
    """An announced crossing; *key* is the alert's type, or `EVENT`; *single*: it has no recovery."""

    key: str
    told_at: datetime
    single: bool = False
    value: float | None = None
    threshold: float | None = None
    message: str = ""

    @property
    def words(self) -> str:
        """``high_gas: gas costs 251.3 gwei, high is 200 gwei``"""
        return f"{self.key}: {self.message}" if self.message else self.key


def is_web3(type_: str) -> bool:
    """Whether monitors of that type have such findings."""
    return type_ in OF_CHAINS


def threshold(key: str, data: Mapping[str, Any], told_at: datetime) -> NotifiedCrossing:
    """A crossed threshold; *data*: the probe's data, not validated."""
    return _crossing(key, data, told_at, single=False)


def single(log: Mapping[str, Any], told_at: datetime) -> NotifiedCrossing:
    """A contract event, or a transfer with an ``alert``."""
    alert = log.get("alert")
    if isinstance(alert, Mapping):
        return _crossing(_text(alert.get("type")) or EVENT, alert, told_at, single=True)
    message = f"{_text(log.get('name')) or EVENT}({one_line(arguments(log.get('args')))})"
    if transaction := _text(log.get("transactionHash")):
        message += f" in transaction {transaction}"
    return NotifiedCrossing(EVENT, told_at, single=True, message=message)


def window(interval_s: int) -> timedelta:
    """How long a single event keeps an alert open."""
    return max(2 * timedelta(seconds=interval_s), _SHORTEST)


def ends_at(crossings: Sequence[NotifiedCrossing], interval_s: int) -> datetime | None:
    """When the last of *crossings* stops keeping an alert open; None if empty or a threshold is crossed."""
    if not crossings or not all(crossing.single for crossing in crossings):
        return None
    return max(crossing.told_at for crossing in crossings) + window(interval_s)


def summary(crossings: Sequence[NotifiedCrossing]) -> str:
    """The crossed thresholds, then the single events, newest first."""
    words = [
        crossing.words
        for crossing in sorted(
            crossings, key=lambda crossing: (not crossing.single, crossing.told_at), reverse=True
        )
    ]
    more = len(words) - _MOST_SAID
    return "; ".join(words[:_MOST_SAID]) + (f"; and {more} more" if more > 0 else "")


def _crossing(key: str, data: Mapping[str, Any], told_at: datetime, *, single: bool) -> NotifiedCrossing:
    return NotifiedCrossing(
        key,
        told_at,
        single,
        _number(data.get("current")),
        _number(data.get("threshold")),
        _text(data.get("message")),
    )


def _number(value: Any) -> float | None:
    """The float nearest to a decimal text."""
    try:
        number = float(value) if isinstance(value, str | int | float) else None
    except (ValueError, OverflowError):
        return None
    return number if number is not None and isfinite(number) else None


def _text(value: Any) -> str:
    return " ".join(value[:_MOST_WORDS].split()) if isinstance(value, str) else ""
