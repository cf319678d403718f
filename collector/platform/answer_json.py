"""Encodes responses as JSON: dataclasses by their fields' JSON names, datetimes as our timestamps."""

from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import orjson

from collector.platform.answers import OMITTED, Omitted
from shared.clock import iso
from shared.kinds.fields import camel

_OPTIONS: Final = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS


def encode(answer: Any) -> bytes:
    """Return the JSON of *answer*: a response dataclass, or a list or dict that may contain some.

    A field that is marked `Omitted` is left out if it is None; with *null*, only if it is `OMITTED`.
    Raises TypeError for a value that JSON cannot express.
    """
    return orjson.dumps(answer, default=_plain, option=_OPTIONS)


def json_object(answer: Any) -> dict[str, Any]:
    """Return the JSON object of a response dataclass; the values in it are yet to be encoded."""
    return {
        shown: found
        for name, shown, left_out in _members(answer.__class__)
        if (found := getattr(answer, name)) is not left_out
    }


def json_name(name: str) -> str:
    """Return the JSON name of a field; ``from_`` stands for ``from``, which Python reserves."""
    return camel(name.rstrip("_"))


def read_only(answer: type, settable: type) -> frozenset[str]:
    """Return the JSON names of the fields that *answer* shows and *settable* has not.

    A request that sends back what was read names them too; that is no mistake. Warnings are among them.
    """
    settable_names = {field.name for field in fields(settable)}
    shown = {field.name for field in fields(answer)} | {"warnings"}
    return frozenset(map(json_name, shown - settable_names))


def omitted(hint: Any) -> Omitted | None:
    """Return the mark of a field with this type *hint*, None if it has none."""
    marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((mark for mark in marks if isinstance(mark, Omitted)), None)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value)
    if not is_dataclass(value) or isinstance(value, type):
        raise TypeError(f"{type(value).__name__} cannot be expressed in JSON")
    return json_object(value)


@cache
def _members(cls: type) -> tuple[tuple[str, str, Any], ...]:
    """Return for each field of *cls* its name, its JSON name and the value that leaves it out."""
    hints = get_type_hints(cls, include_extras=True)
    return tuple(
        (field.name, json_name(field.name), _left_out(omitted(hints[field.name]))) for field in fields(cls)
    )


def _left_out(mark: Omitted | None) -> Any:
    return OMITTED if mark is None or mark.null else None
