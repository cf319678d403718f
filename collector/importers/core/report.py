"""What became of each object of the source: nothing is dropped without a line here."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

PAUSED: Final = "is paused there; a file cannot pause: pause it after `tocsin apply`"


class ImportOutcome(StrEnum):
    """*CHANGED*: carried, with the differences that the reasons name."""

    CARRIED = "carried"
    CHANGED = "carried with differences"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class Origin:
    """An object of the source; *place*: where it is found there, as ``monitor#12``."""

    kind: str
    name: str
    place: str


@dataclass(slots=True)
class Line:
    """One object and its outcome; *reasons*: why it was left out, or how it differs."""

    origin: Origin
    outcome: ImportOutcome
    reasons: list[str]


@dataclass(slots=True)
class ImportReport:
    """*general*: what holds for all objects; *ping_urls*: old ping URLs, by the heartbeat's name.

    *behind*: counts of what is not declared at all, as history.
    """

    lines: list[Line] = field(default_factory=list)
    general: list[str] = field(default_factory=list)
    ping_urls: dict[str, str] = field(default_factory=dict)
    behind: dict[str, int] = field(default_factory=dict)

    def add(self, origin: Origin, reasons: list[str]) -> None:
        """Add a carried object."""
        self.lines.append(Line(origin, ImportOutcome.CHANGED if reasons else ImportOutcome.CARRIED, reasons))

    def leave_out(self, origin: Origin, reason: str) -> None:
        """Add an object that is not in the file."""
        self.lines.append(Line(origin, ImportOutcome.LEFT_OUT, [reason]))

    def say(self, text: str) -> None:
        """Add what holds for all objects; the same text once."""
        if text not in self.general:
            self.general.append(text)

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return all(line.outcome is not ImportOutcome.LEFT_OUT for line in self.lines)

    def counts(self) -> dict[ImportOutcome, int]:
        """The number of objects by outcome."""
        counted = Counter(line.outcome for line in self.lines)
        return {outcome: counted[outcome] for outcome in ImportOutcome}

    def text(self, secrets: list[str]) -> Iterator[str]:
        """Yield the report for people; *secrets*: names of the variables to set."""
        for outcome in reversed(ImportOutcome):
            listed = [line for line in self.lines if line.outcome is outcome]
            if not listed:
                continue
            yield f"{outcome}: {len(listed)}"
            if outcome is ImportOutcome.CARRIED:
                continue
            for line in listed:
                yield f"  {line.origin.kind} {line.origin.name} ({line.origin.place})"
                yield from (f"      {reason}" for reason in line.reasons)
        yield from _section("for all of them", self.general)
        yield from _section("variables to set", secrets)
        yield from _section(
            "ping URLs that change; `tocsin apply` makes the new ones",
            [f"{name}: {url}" for name, url in self.ping_urls.items()],
        )
        yield from _section(
            "left behind, since files do not declare it", [f"{name}: {n}" for name, n in self.behind.items()]
        )


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{title}:"
        yield from (f"  {line}" for line in lines)
