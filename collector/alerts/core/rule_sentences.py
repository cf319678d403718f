"""An alert rule as a sentence: which monitors, when, who is notified, and who later."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_DEFAULT_WINDOW: Final = 5
_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class SentencePart:
    """A part of the sentence; *strong*: it is one of the rule's own settings."""

    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleParts:
    """The settings of a rule, with names in place of ids.

    *every*: all monitors of the team; *monitors*: names; *tags*: ``name`` or ``name:value``, *every_tag*: a
    monitor needs all of them. *later*: channels of the escalation. None means not set.
    """

    every: bool
    monitors: Sequence[str]
    tags: Sequence[str]
    every_tag: bool
    conditions: Mapping[str, Any]
    channels: Sequence[str]
    repeat_minutes: int | None
    recovery: bool
    delay_minutes: int | None = None
    later: Sequence[str] = ()
    steps: int = 1


def sentence(parts: RuleParts) -> list[SentencePart]:
    """Return ``When *any monitor* *goes down*, notify *Ops*, then after *15 min* *Lead*.``"""
    words = [
        SentencePart("When"),
        SentencePart(_whose(parts), strong=True),
        *_when(parts.conditions),
        SentencePart(", notify"),
    ]
    words.append(SentencePart(_listed(parts.channels, "and") or "nobody", strong=True))
    if parts.repeat_minutes:
        words += [SentencePart("again every"), SentencePart(_minutes(parts.repeat_minutes), strong=True)]
    if parts.delay_minutes and parts.later:
        words += [SentencePart(", then after"), SentencePart(_minutes(parts.delay_minutes), strong=True)]
        words.append(SentencePart(_listed(parts.later, "and"), strong=True))
        if parts.steps > 1:
            words.append(SentencePart(f"({parts.steps} times)"))
    words.append(SentencePart(", and on recovery." if parts.recovery else "."))
    return words


def text(words: Sequence[SentencePart]) -> str:
    """Return the sentence without emphasis."""
    joined = ""
    for each in words:
        joined += each.text if not joined or each.text[0] in ",." else f" {each.text}"
    return joined


def _whose(parts: RuleParts) -> str:
    if parts.every:
        return "any monitor"
    known = []
    if parts.monitors:
        few = len(parts.monitors) <= _NAMED
        known.append(_listed(parts.monitors, "or") if few else f"any of {len(parts.monitors)} monitors")
    if parts.tags:
        known.append(f"any monitor tagged {_listed(parts.tags, 'and' if parts.every_tag else 'or')}")
    return " or ".join(known) or "no monitor (the selected ones were deleted)"


_PHRASES: Final[Mapping[str, str]] = {
    "consecutiveFailures": "is down for {} checks",
    "latencyThresholdMs": "is slower than {} ms",
    "statusCode": "answers with status {}",
    "errorRatePercent": "fails {} % of its checks within {window}",
    "availability": "was up for less than {} % of the last 24 h",
}


def is_unconditional(conditions: Mapping[str, Any]) -> bool:
    """Whether a rule with these conditions fires when a monitor goes down."""
    return all(conditions.get(name) is None for name in _PHRASES)


def _when(conditions: Mapping[str, Any]) -> list[SentencePart]:
    phrases = [_phrase(name, conditions) for name in _PHRASES if conditions.get(name) is not None]
    if not phrases:
        return [SentencePart("goes down", strong=True)]
    between = "and" if conditions.get("match") == "all" else "or"
    words = [SentencePart(phrases[0], strong=True)]
    for phrase in phrases[1:]:
        words += [SentencePart(between), SentencePart(phrase, strong=True)]
    return words


def _phrase(name: str, conditions: Mapping[str, Any]) -> str:
    value = conditions[name]
    window = _minutes(int(conditions.get("windowMinutes") or _DEFAULT_WINDOW))
    phrase = _PHRASES[name].format(f"{value:g}" if isinstance(value, int | float) else value, window=window)
    if name != "consecutiveFailures":
        return phrase
    if value == 1:
        phrase = phrase.removesuffix("s")
    return phrase + (" at any location" if conditions.get("locations") == "any" else "")


def _minutes(count: int) -> str:
    hours, minutes = divmod(count, 60)
    return " ".join(filter(None, (f"{hours} h" if hours else "", f"{minutes} min" if minutes else "")))


def _listed(names: Sequence[str], last: str) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"
