"""JSONPath (RFC 9535); ``a.b`` is short for ``$.a.b``."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any, Final

from shared.effort import Meter
from shared.json_query import descents, query

# Further matches of a path are ignored.
MOST_FOUND: Final = 1000
# The result of one `..` may be as large as the document; each further one multiplies it.
MOST_DESCENTS: Final = 1

_STEP: Final = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[(0|[1-9][0-9]{0,8})\]")
_PLAIN: Final = re.compile(rf"\$(?:{_STEP.pattern})*")

Find = Callable[[Any, Meter], Sequence[Any]]


def path(text: str) -> Find:
    """Compile *text*. Raises ValueError for an invalid path; the returned function raises TooCostly."""
    whole = _whole(text)
    if _PLAIN.fullmatch(whole):
        steps = [name or int(index) for name, index in _STEP.findall(whole)]
        return lambda document, _meter: _walk(document, steps)
    select = query(_parsed(whole))
    return lambda document, meter: list(islice(select(document, meter), MOST_FOUND))


def fault(text: str) -> str:
    """Why *text* is rejected as a path; empty if it is valid."""
    whole = _whole(text)
    if _PLAIN.fullmatch(whole):
        return ""
    try:
        parsed = _parsed(whole)
    except ValueError:
        return "must be a JSONPath"
    return "must have at most one `..`, in filters too" if descents(parsed) > MOST_DESCENTS else ""


def _whole(text: str) -> str:
    return text if text.startswith("$") else f"${text}" if text.startswith("[") else f"$.{text}"


def _parsed(whole: str) -> Any:
    environment, error = _environment()
    try:
        return environment.compile(whole)
    except (error, ValueError, OverflowError, RecursionError):
        raise ValueError("not a JSONPath") from None


def _walk(document: Any, steps: Sequence[str | int]) -> Sequence[Any]:
    for step in steps:
        if isinstance(step, str):
            if not isinstance(document, dict) or step not in document:
                return ()
        elif not isinstance(document, list) or step >= len(document):
            return ()
        document = document[step]
    return (document,)


@cache
def _environment() -> tuple[Any, type[Exception]]:
    """The package that parses all but the simplest paths, and its error class."""
    package = import_module("jsonpath")
    error: type[Exception] = package.JSONPathError
    return package.JSONPathEnvironment(strict=True), error
