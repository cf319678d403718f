"""Users' regular expressions, by RE2, in linear time."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from shared.effort import Meter

# What begins so is a regular expression, as in `labelFilters`; anything else is looked for as it is.
REGEX: Final = "=~"
# Of a longer text only so much is looked at, and less by a pattern of many instructions.
MOST_SEEN: Final = 262_144
_MOST_SCANS: Final = 1 << 26
# A pattern that needs more is refused; it also bounds how long it takes to find that out.
_MOST_MEMORY_BYTES: Final = 1_048_576


@dataclass(frozen=True, slots=True)
class Finder:
    """*size*: what it costs to look at one byte, in instructions of a pattern."""

    finds: Callable[[str], bool]
    size: int


class Pattern:
    """Is it somewhere in a text? *size* is how many instructions it has."""

    __slots__ = ("_compiled", "_window", "size")

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled
        self.size: int = max(1, compiled.programsize)
        self._window = min(MOST_SEEN, _MOST_SCANS // self.size)

    def __call__(self, text: str) -> bool:
        return self._compiled.search(text[: self._window]) is not None

    def metered(self, text: str, meter: Meter) -> bool:
        """As a call, on *meter*. Raises TooCostly."""
        meter.scan(min(len(text), self._window) * self.size)
        return self(text)


def regex(pattern: str) -> Pattern:
    """Raises ValueError for a pattern that RE2 does not take."""
    # Most probes never need it.
    re2: Any = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY_BYTES
    try:
        return Pattern(re2.compile(pattern, options))
    except re2.error as error:
        told = error.args[0] if error.args else "not understood"
        text = told.decode(errors="replace") if isinstance(told, bytes) else str(told)
        raise ValueError(f"not a regular expression: {text}") from None


def finder(wanted: str) -> Finder:
    """Is what *wanted* says in a text? ``=~`` before it makes it a regular expression."""
    if wanted.startswith(REGEX):
        pattern = regex(wanted.removeprefix(REGEX))
        return Finder(pattern, pattern.size)
    return Finder(lambda text: wanted in text, 1)


def is_wanted(text: str) -> bool:
    """Can `finder` make something of *text*?"""
    try:
        finder(text)
    except ValueError:
        return False
    return True
