"""Users' regular expressions, by RE2, in linear time."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from shared.effort import Meter

# Prefix of a regular expression, as in `labelFilters`; other texts are searched literally.
REGEX: Final = "=~"
# Only this much of a longer text is searched, less by a pattern of many instructions.
MOST_SEEN: Final = 262_144
_MOST_SCANS: Final = 1 << 26
# Larger patterns are rejected; it also bounds the time of finding that out.
_MOST_MEMORY_BYTES: Final = 1_048_576


@dataclass(frozen=True, slots=True)
class Finder:
    """*size*: cost of searching one byte, in pattern instructions."""

    finds: Callable[[str], bool]
    size: int


class Pattern:
    """A compiled pattern; call it to search a text. *size*: its number of instructions."""

    __slots__ = ("_compiled", "_window", "size")

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled
        self.size: int = max(1, compiled.programsize)
        self._window = min(MOST_SEEN, _MOST_SCANS // self.size)

    def __call__(self, text: str) -> bool:
        return self._compiled.search(text[: self._window]) is not None

    def metered(self, text: str, meter: Meter) -> bool:
        """Search *text* at the expense of *meter*. Raises TooCostly."""
        meter.scan(min(len(text), self._window) * self.size)
        return self(text)


def regex(pattern: str) -> Pattern:
    """Compile an RE2 pattern. Raises ValueError if it is invalid."""
    # Most probes never need it.
    re2: Any = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY_BYTES
    try:
        return Pattern(re2.compile(pattern, options))
    except re2.error as error:
        data = error.args[0] if error.args else "not understood"
        text = data.decode(errors="replace") if isinstance(data, bytes) else str(data)
        raise ValueError(f"not a regular expression: {text}") from None


def finder(wanted: str) -> Finder:
    """A finder for *wanted*, which is a literal text or, after ``=~``, a regular expression."""
    if wanted.startswith(REGEX):
        pattern = regex(wanted.removeprefix(REGEX))
        return Finder(pattern, pattern.size)
    return Finder(lambda text: wanted in text, 1)


def is_wanted(text: str) -> bool:
    """Whether `finder` accepts *text*."""
    try:
        finder(text)
    except ValueError:
        return False
    return True
