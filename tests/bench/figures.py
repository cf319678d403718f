"""What a measurement came to, and what it must come to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """*at_least* and *at_most* are None for figures that are only reported."""

    name: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def met(self) -> bool:
        low = self.at_least is None or self.value >= self.at_least
        return low and (self.at_most is None or self.value <= self.at_most)

    def __str__(self) -> str:
        bound = ""
        if self.at_least is not None:
            bound = f"at least {self.at_least:,.0f}"
        if self.at_most is not None:
            bound = f"at most {self.at_most:,.0f}"
        verdict = "" if not bound else f"   {'met' if self.met else 'MISSED'}: {bound}"
        value = f"{self.value:,.0f}" if self.value >= 100 else f"{self.value:,.2f}"
        return f"{self.name:<55} {value:>12} {self.unit}{verdict}"
