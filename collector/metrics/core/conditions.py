"""Conditions on the values of series: which hold, since when, and their messages."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from collector.metrics.core.series import NAME, Labels
from shared.kinds.prometheus import Condition

_OPERATORS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
    "eq": operator.eq,
    "ne": operator.ne,
}
_WORDS: Final[Mapping[str, str]] = {
    "gt": "above",
    "ge": "at or above",
    "lt": "below",
    "le": "at or below",
    "eq": "equal to",
    "ne": "other than",
}
_NAMED: Final = 3
_MAX_SHOWN: Final = 120


@dataclass(frozen=True, slots=True)
class ObservedSample:
    """A sample of a series that some conditions match; *value* None: the series ended."""

    key: bytes
    labels: Labels
    conditions: tuple[int, ...]
    at: datetime
    value: float | None


@dataclass(frozen=True, slots=True)
class HeldCondition:
    """A condition, by index, at a series: true since *since*, or false if *since* is None.

    *broken*: it was false in between, so the stored state is void.
    """

    condition: int
    key: bytes
    labels: Labels
    since: datetime | None
    at: datetime
    broken: bool


def moved(conditions: Sequence[Condition], observed: Iterable[ObservedSample]) -> list[HeldCondition]:
    """The state of each condition at each series after samples in chronological order."""
    states: dict[tuple[int, bytes], HeldCondition] = {}
    for sample in observed:
        for place in sample.conditions:
            before = states.get((place, sample.key))
            holds = sample.value is not None and _holds(conditions[place], sample.value)
            states[place, sample.key] = _after(before, place, sample, holds=holds)
    return list(states.values())


def error(conditions: Sequence[Condition], holding: Iterable[HeldCondition], now: datetime) -> str:
    """Describe the conditions that were true for too long; empty if there are none."""
    texts = [
        f"{_series(held.labels)} is {_bound(conditions[held.condition])}"
        for held in sorted(holding, key=lambda held: (held.condition, held.key))
        if held.since is not None and now - held.since >= timedelta(seconds=conditions[held.condition].for_)
    ]
    more = f"; and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return "; ".join(texts[:_NAMED]) + more


def _after(before: HeldCondition | None, place: int, sample: ObservedSample, *, holds: bool) -> HeldCondition:
    if not holds:
        return HeldCondition(place, sample.key, sample.labels, None, sample.at, broken=True)
    if before is None or before.since is None:
        return HeldCondition(
            place, sample.key, sample.labels, sample.at, sample.at, broken=before is not None
        )
    return replace(before, at=sample.at)


def _holds(condition: Condition, value: float) -> bool:
    return _OPERATORS[condition.op](value, condition.value)


def _bound(condition: Condition) -> str:
    """The bound without the current value, which would make every text unique."""
    length = f" for {condition.for_} s" if condition.for_ else ""
    return f"{_WORDS[condition.op]} {condition.value:g}{length}"


def _series(labels: Labels) -> str:
    """The series in Prometheus notation: ``up{job="node"}``."""
    inside = ",".join(f'{name}="{value}"' for name, value in sorted(labels.items()) if name != NAME)
    shown = labels.get(NAME, "") + (f"{{{inside}}}" if inside else "")
    return shown if len(shown) <= _MAX_SHOWN else shown[: _MAX_SHOWN - 1] + "…"
