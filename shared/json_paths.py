"""JSONPath (RFC 9535): where in a document to look; ``a.b`` is short for ``$.a.b``."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any, Final

from shared.patterns import regex

# Of a path that finds more, the rest is left.
MOST_FOUND: Final = 1000

_STEP: Final = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[(0|[1-9][0-9]{0,8})\]")
_PLAIN: Final = re.compile(rf"\$(?:{_STEP.pattern})*")

Find = Callable[[Any], Sequence[Any]]


def path(text: str) -> Find:
    """What *text* finds in a document. Raises ValueError for what is no path."""
    whole = text if text.startswith("$") else f"${text}" if text.startswith("[") else f"$.{text}"
    if _PLAIN.fullmatch(whole):
        steps = [name or int(index) for name, index in _STEP.findall(whole)]
        return lambda document: _walk(document, steps)
    environment, fault = _environment()
    try:
        compiled = environment.compile(whole)
    except (fault, ValueError, RecursionError):
        raise ValueError("not a JSONPath") from None

    def find(document: Any) -> Sequence[Any]:
        try:
            return [node.obj for node in islice(compiled.finditer(document), MOST_FOUND)]
        except RecursionError:
            return ()

    return find


def is_path(text: str) -> bool:
    try:
        path(text)
    except ValueError:
        return False
    return True


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
    """The package for all but the plainest paths, and its error; patterns in filters are RE2's."""
    package = import_module("jsonpath")
    environment = package.JSONPathEnvironment(strict=True)
    for name, form in (("match", "^(?:{})$"), ("search", "{}")):
        environment.function_extensions[name] = _filter(type(environment.function_extensions[name]), form)
    fault: type[Exception] = package.JSONPathError
    return environment, fault


def _filter(declared: Any, form: str) -> Any:
    """A function of RFC 9535, declared as the package's own, that no pattern makes run long."""

    def call(_self: Any, value: object, pattern: object) -> bool:
        if not isinstance(value, str) or not isinstance(pattern, str):
            return False
        return _compiled(form.format(pattern))(value)

    return type(declared.__name__, (declared,), {"__call__": call})()


@cache
def _compiled(pattern: str) -> Callable[[str], bool]:
    try:
        return regex(pattern)
    except ValueError:
        return lambda _text: False
