"""Charts of a monitor's past, as SVG paths: bars of days and columns of counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# A day is three units wide, with a gap of one.
_STEP: Final = 4
_FAIR: Final = 99.0
WIDTH: Final = 720
HEIGHT: Final = 160


@dataclass(frozen=True, slots=True)
class Bars:
    """*paths*: the days of each level (``good``, ``fair``, ``bad``, ``none``), in a field *width* by 20."""

    width: int
    paths: dict[str, str]
    text: str


def bars(days: Sequence[float | None], of: str = "days") -> Bars:
    """Draw uptimes in percent, oldest first; None where nothing is known."""
    paths: dict[str, list[str]] = {}
    for at, share in enumerate(days):
        paths.setdefault(level(share), []).append(f"M{at * _STEP} 0h3v20h-3z")
    known = [share for share in days if share is not None]
    troubled = sum(share < 100 for share in known)
    text = f"{len(known)} of the last {len(days)} {of} are known, {troubled} of them with an outage"
    return Bars(len(days) * _STEP - 1, {name: "".join(each) for name, each in paths.items()}, text)


def level(share: float | None) -> str:
    """Return the class of an uptime in percent: ``good``, ``fair``, ``bad`` or ``none``."""
    if share is None:
        return "none"
    if share >= 100:
        return "good"
    return "fair" if share >= _FAIR else "bad"


def columns(counts: Sequence[int]) -> str:
    """Draw columns in a field of WIDTH by HEIGHT; the largest is as high as the field."""
    most, step = max(counts, default=0) or 1, WIDTH / max(len(counts), 1)
    return "".join(
        f"M{at * step + 1:.1f} {HEIGHT}V{HEIGHT * (1 - count / most):.1f}h{max(step - 2, 1):.1f}V{HEIGHT}z"
        for at, count in enumerate(counts)
        if count
    )
