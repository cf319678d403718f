"""Regular expressions of operators, by RE2: no pattern and no answer of a target can make them run long."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

# What begins so is a regular expression, as in `labelFilters`; anything else is looked for as it is.
REGEX: Final = "=~"
_MOST_MEMORY_BYTES: Final = 8_388_608

Finds = Callable[[str], bool]


def regex(pattern: str) -> Finds:
    """Is *pattern* somewhere in a text? Raises ValueError for one that RE2 does not take."""
    # Most probes never need it.
    re2: Any = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY_BYTES
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        told = error.args[0] if error.args else "not understood"
        text = told.decode(errors="replace") if isinstance(told, bytes) else str(told)
        raise ValueError(f"not a regular expression: {text}") from None
    return lambda text: compiled.search(text) is not None


def finder(wanted: str) -> Finds:
    """Is what *wanted* says in a text? ``=~`` before it makes it a regular expression."""
    if wanted.startswith(REGEX):
        return regex(wanted.removeprefix(REGEX))
    return lambda text: wanted in text


def is_wanted(text: str) -> bool:
    """Can `finder` make something of *text*?"""
    try:
        finder(text)
    except ValueError:
        return False
    return True
