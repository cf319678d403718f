"""Encodes responses as JSON: dataclasses by their fields' JSON names, times as our timestamps."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
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
    shown: dict[str, Any] = _CONVERTERS[answer.__class__](answer)
    return shown


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
    return _CONVERTERS[value.__class__](value)


class _Converters(dict[type, Callable[[Any], Any]]):
    """The function of each class that turns its values into what `orjson` can express.

    A function is made at the first value of its class. Raises TypeError for a class that JSON cannot express.
    """

    def __missing__(self, cls: type) -> Callable[[Any], Any]:
        made: Callable[[Any], Any]
        if issubclass(cls, datetime):
            made = _timestamp
        else:
            made = date.isoformat if issubclass(cls, date) else _object_converter(cls)
        self[cls] = made
        return made


_CONVERTERS: Final = _Converters()


def _timestamp(moment: datetime) -> str:
    """Return the same text as `iso` in a quarter of its time."""
    if moment.tzinfo is not UTC:
        return iso(moment)
    text = orjson.dumps(moment)
    # Without microseconds there is no fraction of the second to shorten.
    return f"{text[1:24].decode()}Z" if moment.microsecond else f"{text[1:20].decode()}.000Z"


def _object_converter(cls: type) -> Callable[[Any], dict[str, Any]]:
    """Return a function from an object of *cls* to its JSON object.

    Its source is generated, as that of a dataclass's methods is: a loop over the fields takes twice its time.
    """
    if not is_dataclass(cls):
        raise TypeError(f"{cls.__name__} cannot be expressed in JSON")
    hints = get_type_hints(cls, include_extras=True)
    lines = ["def convert(answer):", " shown = {}"]
    for field in fields(cls):
        mark = omitted(hints[field.name])
        absent = "None" if mark is not None and not mark.null else "OMITTED"
        lines += [
            f" if (value := answer.{field.name}) is not {absent}:",
            f"  shown[{json_name(field.name)!r}] = value",
        ]
    namespace: dict[str, Any] = {"OMITTED": OMITTED}
    exec("\n".join([*lines, " return shown"]), namespace)  # noqa: S102  # of names of fields only
    converter: Callable[[Any], dict[str, Any]] = namespace["convert"]
    return converter
