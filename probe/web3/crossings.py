"""Threshold crossings and recoveries, reported once at each edge."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import orjson

from shared.findings import Finding, Findings
from shared.kinds.web3.fields import EXACT

_PLACES: Final = Decimal("0.0001")


@dataclass(frozen=True, slots=True)
class MeasuredValue:
    """*value* against *threshold*, both in *unit*; crossed at or over it if *above*, else at or under.

    *strict*: equality is not crossed. It recovers when *back*, a share of the threshold, away from it. *text*
    is the human-readable message.
    """

    key: str
    value: Decimal
    threshold: Decimal
    unit: str
    text: str
    above: bool = True
    back: Decimal = Decimal("0.05")
    strict: bool = False

    @property
    def crossed(self) -> bool:
        if self.strict and self.value == self.threshold:
            return False
        return self.value >= self.threshold if self.above else self.value <= self.threshold

    @property
    def recovered(self) -> bool:
        way = EXACT.multiply(self.threshold, self.back)
        if not way:
            return not self.crossed
        if self.above:
            return self.value <= EXACT.subtract(self.threshold, way)
        return self.value >= EXACT.add(self.threshold, way)


def compare(
    before: frozenset[str],
    measured: Sequence[MeasuredValue],
    unjudged: Collection[str] = (),
    *,
    whole: bool = False,
) -> tuple[frozenset[str], list[Finding]]:
    """The alerts raised now, and the findings: all measured ones if *whole*, else changes.

    A raised alert that is no longer measured, because its threshold was removed, recovers; an *unjudged* one
    stays as it was.
    """
    after, findings = set[str](), list[Finding]()
    for one in measured:
        was = one.key in before
        now = one.crossed or (was and not one.recovered)
        if now:
            after.add(one.key)
        if whole or now != was:
            findings.append(Finding(Findings.RAISED if now else Findings.RECOVERED, one.key, _data(one)))
    known = {one.key for one in measured}
    left = before - known
    findings += [Finding(Findings.RECOVERED, key, b"{}") for key in sorted(left.difference(unjudged))]
    return frozenset(after | left.intersection(unjudged)), findings


def plain(number: Decimal) -> str:
    """The number without an exponent and trailing zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def rounded(number: Decimal) -> Decimal:
    """The number rounded to four places, for display and for shares."""
    return number.quantize(_PLACES, context=EXACT)


def _data(one: MeasuredValue) -> bytes:
    return orjson.dumps(
        {
            "current": plain(one.value),
            "threshold": plain(one.threshold),
            "unit": one.unit,
            "message": one.text,
        }
    )
