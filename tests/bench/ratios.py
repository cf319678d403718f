"""The arithmetic of `make bench-guard`: figures beside their floors, compared with a kept baseline."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

# Of the kept ratio. Ratios of the same program differ by up to a tenth between runs on a busy machine.
LEAST: Final = 0.8
_RECORDED: Final = 50


@dataclass(frozen=True, slots=True)
class Compared:
    """Our rates and those of the floor, measured in turn; units are the same for both, per CPU-second."""

    name: str
    ours: Sequence[float]
    floor: Sequence[float]

    @property
    def ratio(self) -> float:
        """Our best rate by the floor's best, of any round: load on the machine only ever takes away."""
        return max(self.ours) / max(self.floor)


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes that a process must not exceed."""

    name: str
    megabytes: float
    at_most: float


@dataclass(frozen=True, slots=True)
class Report:
    """*lines*: a table in Markdown; *faults*: what fell below its bound."""

    lines: Sequence[str]
    faults: Sequence[str]


def report(measured: Sequence[Compared | Memory], baseline: Mapping[str, float]) -> Report:
    """Compare with the ratios that were kept; a figure without one passes."""
    rows, faults = [], []
    for each in measured:
        if isinstance(each, Memory):
            rows.append(f"| {each.name} | {each.megabytes:.0f} MB | | | at most {each.at_most:.0f} MB |")
            if each.megabytes > each.at_most:
                faults.append(f"{each.name}: {each.megabytes:.0f} MB, at most {each.at_most:.0f} MB")
            continue
        kept = baseline.get(each.name)
        ours, floor = max(each.ours), max(each.floor)
        beside = "" if kept is None else f"{kept:.3g}"
        rows.append(f"| {each.name} | {ours:,.0f} | {floor:,.0f} | {each.ratio:.3g} | {beside} |")
        if kept is not None and each.ratio < LEAST * kept:
            faults.append(
                f"{each.name}: {each.ratio:.3g} of its floor, {each.ratio / kept:.0%} of what it was"
            )
    head = ["| figure | per CPU-second | its floor | ratio | kept |", "|---|---|---|---|---|"]
    return Report([*head, *rows], faults)


def kept(measured: Sequence[Compared | Memory]) -> dict[str, float]:
    """Return the ratios to keep as a baseline."""
    return {name: float(f"{ratio:.3g}") for name, ratio in _ratios(measured)}


def recorded(document: str, measured: Sequence[Compared | Memory], when: str) -> str:
    """Append a row to the table of results at the end of *document*; its last rows stay.

    Begins a table if the last line is not of one with these figures.
    """
    head = f"| when | {' | '.join(each.name for each in measured)} |"
    values = [
        f"{each.megabytes:.0f} MB" if isinstance(each, Memory) else f"{each.ratio:.3g}" for each in measured
    ]
    before, present, table = document.rstrip().partition(head)
    rows = table.split("\n")[2:] if present else []
    rows = [*rows, f"| {when} | {' | '.join(values)} |"][-_RECORDED:]
    rule = "|---" * (len(measured) + 1) + "|"
    return "\n".join([before.rstrip(), "", head, rule, *rows, ""])


def _ratios(measured: Sequence[Compared | Memory]) -> Iterator[tuple[str, float]]:
    for each in measured:
        if isinstance(each, Compared):
            yield each.name, each.ratio
