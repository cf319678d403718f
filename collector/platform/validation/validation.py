"""Reads a request's body into a dataclass with annotated bounds, or names every bad field at once.

The keys of the faults are those of `details` in the API: the bare name of a direct field (``url``), the path
of a deeper one (``auth.type``, ``expectedStatus[1]``). Unknown fields are listed, not rejected.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Generic, TypeVar

import orjson
from annotated_types import Interval
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from collector.platform.validation.reader import BodyReader
from collector.platform.validation.shapes import Shape, members, shape
from shared.errors import Invalid
from shared.kinds.fields import camel

T = TypeVar("T")

_TYPES = {
    "string_type": "must be a string",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "dataclass_type": "must be an object",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
}


# Most values, which need no look at what they may contain.
_SCALARS = frozenset({str, int, float, bool})


@dataclass(frozen=True, slots=True)
class ParseResult(Generic[T]):
    """*value* is None exactly if there are *faults*; *unknown* names the ignored fields.

    *warnings* describe what was left out of a field's value.
    """

    value: T | None
    faults: dict[str, str]
    unknown: list[str]
    warnings: list[str]


def check(cls: type[T], values: Mapping[str, Any], *, prefix: str = "") -> tuple[T, list[str]]:
    """Validate *values* (camelCase, from JSON) as a *cls*; also return the names of unknown fields.

    *prefix* precedes every name, as ``config.``. Raises Invalid with all faults.
    """
    found = read(cls, values, prefix=prefix)
    if found.value is None:
        raise Invalid(found.faults)
    return found.value, found.unknown


def read(cls: type[T], values: Mapping[str, Any], *, prefix: str = "") -> ParseResult[T]:
    """As `check`, for callers that collect errors from several sources."""
    reader = BodyReader()
    prepared = reader.record(cls, values, prefix)
    value, faults = _validate(cls, prepared, prefix)
    faults |= reader.faults
    return ParseResult(None if faults else value, faults, reader.unknown, reader.warnings)


def ignored(unknown: Iterable[str]) -> list[str]:
    """A warning for each unknown field."""
    return [f"unknown field {name} was ignored" for name in unknown]


def to_json(value: Any) -> dict[str, Any]:
    """The inverse of `check`: camelCase names, with all defaults."""
    return {
        alias: part if (part := getattr(value, name)) is None or part.__class__ in _SCALARS else _plain(part)
        for name, alias in _aliases(value.__class__)
    }


@cache
def _aliases(cls: Any) -> tuple[tuple[str, str], ...]:
    """The fields of a dataclass, each with its name in JSON."""
    return tuple((field.name, camel(field.name)) for field in fields(cls))


def _plain(value: Any) -> Any:
    if value is None or type(value) in _SCALARS:
        return value
    if is_dataclass(value):
        return to_json(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


@cache
def _adapter(cls: Any) -> TypeAdapter[Any]:
    return TypeAdapter(cls)


def _validate(cls: Any, prepared: dict[str, Any], prefix: str) -> tuple[Any, dict[str, str]]:
    """Validate strictly and from JSON: the only strict mode that reads an object as a dataclass."""
    try:
        value = _adapter(cls).validate_json(orjson.dumps(prepared), strict=True)
    except ValidationError as error:
        bad = {fault["loc"][0] for fault in error.errors(include_url=False)}
        sound = {name: value for name, value in prepared.items() if name not in bad}
        beside = {prefix + path: text for path, text in _misfits(cls, sound)}
        return None, beside | _faults(cls, error, prefix)
    return value, {prefix + path: text for path, text in _own_faults(value)}


def _misfits(cls: Any, sound: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Errors of combinations of valid fields, as far as they do not need the invalid ones."""
    partly = object.__new__(cls)
    for field in fields(cls):
        member = members(cls)[camel(field.name)]
        if field.name in sound:
            value = _adapter(member.hint).validate_json(orjson.dumps(sound[field.name]), strict=True)
            object.__setattr__(partly, field.name, value)
        elif field.default is not MISSING:
            object.__setattr__(partly, field.name, field.default)
        elif field.default_factory is not MISSING:
            object.__setattr__(partly, field.name, field.default_factory())
    yield from _own_faults(partly, whole=False)


def _own_faults(value: Any, *, whole: bool = True) -> Iterator[tuple[str, str]]:
    """Errors of a dataclass's own method ``faults``, if any, about fields that must fit each other.

    If it is not *whole*, a check that needs a missing field is skipped.
    """
    if hasattr(value, "faults"):
        with nullcontext() if whole else suppress(AttributeError):
            yield from value.faults().items()
    for field, alias in _aliases(value.__class__):
        part = getattr(value, field, None)
        if part is None or part.__class__ in _SCALARS:
            continue
        for name, record in _records(alias, part):
            yield from ((f"{name}.{path}", text) for path, text in _own_faults(record))


def _records(name: str, value: Any) -> list[tuple[str, Any]]:
    """The dataclasses in a field's value, each with its path."""
    if isinstance(value, list | tuple):
        return [(f"{name}[{at}]", item) for at, item in enumerate(value) if is_dataclass(item)]
    return [(name, value)] if is_dataclass(value) else []


def _faults(cls: type[Any], error: ValidationError, prefix: str) -> dict[str, str]:
    found: dict[str, list[tuple[ErrorDetails, Shape]]] = {}
    for typed_dict_type in error.errors(include_url=False):
        path, form = _locate(cls, typed_dict_type["loc"])
        found.setdefault(path, []).append((typed_dict_type, form))
    # pydantic reports an error for each union member; the intended one has the deepest path.
    deepest = [path for path in found if not any(_below(other, path) for other in found)]
    return {prefix + path: _text(path, found[path]) for path in deepest}


def _below(path: str, above: str) -> bool:
    return path.startswith((above + ".", above + "["))


def _text(path: str, faults: list[tuple[ErrorDetails, Shape]]) -> str:
    fault, form = faults[0]
    says = form.says(fault["input"])
    if says and (len(faults) > 1 or fault["type"] == "predicate_failed"):
        return says.text
    return _sentence(fault, form, path)


def _sentence(fault: ErrorDetails, form: Shape, path: str) -> str:
    kind, facts = fault["type"], fault.get("ctx", {})
    match kind:
        case "missing":
            text = f"{_label(path)} is required"
        case "literal_error":
            text = "must be one of " + ", ".join(map(str, form.words()))
        case "string_too_short" | "string_too_long":
            text = _length("must be", facts, "characters long")
        case "too_short" | "too_long":
            text = _length("must have", facts, "entries")
        case "greater_than_equal" | "less_than_equal" | "greater_than" | "less_than":
            text = _bounds(form, facts)
        case _:
            text = _TYPES.get(kind, "is not valid")
    return text


def _length(verb: str, facts: Mapping[str, Any], unit: str) -> str:
    if "max_length" in facts:
        return f"{verb} at most {facts['max_length']} {unit}"
    least = facts["min_length"]
    return "must not be empty" if least == 1 else f"{verb} at least {least} {unit}"


def _bounds(form: Shape, facts: Mapping[str, Any]) -> str:
    interval = form.mark(Interval)
    if interval and interval.ge is not None and interval.le is not None:
        return f"must be between {interval.ge} and {interval.le}"
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    return "must be " + " and ".join(f"{words[bound]} {limit:g}" for bound, limit in facts.items())


def _label(path: str) -> str:
    """``webhookUrl`` -> ``Webhook URL``."""
    name = path.rpartition(".")[2]
    words = "".join(" " + letter.lower() if letter.isupper() else letter for letter in name).split()
    text = " ".join("URL" if word == "url" else "id" if word == "id" else word for word in words)
    return text[:1].upper() + text[1:]


def _locate(cls: type[Any], location: tuple[int | str, ...]) -> tuple[str, Shape]:
    """The JSON path of a pydantic error, and the shape there."""
    path, form = "", shape(cls)
    parts = iter(location)
    for part in parts:
        # For a union, pydantic puts the member's name first.
        step = next(parts, None) if path and len(form.options) > 1 else part
        if step is None:
            break
        path, form = _step(path, form, step)
    return path, form


def _step(path: str, form: Shape, step: int | str) -> tuple[str, Shape]:
    if isinstance(step, int):
        return f"{path}[{step}]", shape(form.items())
    dot = "." if path else ""
    if (cls := form.record()) is not None:
        alias = camel(step)
        return path + dot + alias, shape(members(cls)[alias].hint)
    if step == "[key]" or form.values() is None:
        return path, form
    return path + dot + step, shape(form.values())
