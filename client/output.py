"""Writes answers for people: tables, ages and durations; and for programs: JSON."""

import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from shared.clock import utc_now

_COLOURS: Final = {
    "down": 31,
    "open": 31,
    "critical": 31,
    "acknowledged": 33,
    "degraded": 33,
    "flapping": 33,
    "paused": 90,
    "up": 32,
    "resolved": 32,
}
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_GAP: Final = "  "
NOTHING: Final = "-"


def write_json(answer: Any) -> None:
    """Write an answer as JSON, as the API gave it."""
    sys.stdout.write(json.dumps(answer, indent=2, ensure_ascii=False) + "\n")


def write_line(text: str) -> None:
    """Write a line at once; what could steer a terminal is left out."""
    sys.stdout.write(printable(text) + "\n")
    sys.stdout.flush()


def write_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write columns of texts below their heads; words of state are coloured on a terminal."""
    cells = [list(heads), *([printable(cell) or NOTHING for cell in row] for row in rows)]
    widths = [max(width(row[column]) for row in cells) for column in range(len(heads))]
    for row in cells:
        line = _GAP.join(
            coloured(cell) + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True)
        )
        sys.stdout.write(line.rstrip() + "\n")


def write_fields(fields: Iterable[tuple[str, str]]) -> None:
    """Write names and values, one a line."""
    known = [(name, printable(value)) for name, value in fields if value]
    wide = max((width(name) for name, _ in known), default=0)
    for name, value in known:
        sys.stdout.write(f"{name}{' ' * (wide - width(name))}{_GAP}{coloured(value)}\n")


def printable(text: str) -> str:
    """Return *text* in one line, without control characters: names come from others."""
    return "".join(letter if letter.isprintable() else " " for letter in text).strip()


def width(text: str) -> int:
    """Return the columns that *text* takes on a terminal."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def coloured(text: str) -> str:
    """Return a word of state in its colour, if this is a terminal that may show colours."""
    code = _COLOURS.get(text)
    if code is None or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\033[{code}m{text}\033[0m"


def age(moment: str | None, now: datetime | None = None) -> str:
    """Return ``2 min ago`` for a time of the API; nothing for None."""
    if moment is None:
        return ""
    seconds = ((now or utc_now()) - datetime.fromisoformat(moment)).total_seconds()
    return (
        f"{duration(seconds)} ago" if seconds >= 1 else "now" if seconds > -1 else f"in {duration(-seconds)}"
    )


def duration(seconds: float) -> str:
    """Return a duration in its two largest units: ``1 h 5 min``."""
    left = int(seconds)
    parts: list[str] = []
    for size, unit in _UNITS:
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count} {unit}" if count else "")
        if len(parts) == 2:
            break
    return " ".join(filter(None, parts)) or "0 s"


def write_error(text: str) -> None:
    """Write an error as all commands do."""
    sys.stderr.write(f"tocsin: {printable(text)}\n")
