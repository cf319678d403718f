"""Converts a submitted form into the body that the API takes; the models validate it."""

import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

from collector.console.forms.forms import control
from collector.platform.validation.model_fields import Member, Shape, members, shape

Posted = Mapping[str, list[str]]

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?")
_MOST_ROWS: Final = 200


def body(cls: Any, posted: Posted, *, prefix: str = "") -> dict[str, Any]:
    """Return the *posted* fields of *cls*, without fields that the form did not have.

    An empty field is None, which means the default (or, if required, that it is missing).
    """
    found: dict[str, Any] = {}
    for member in members(cls).values():
        name = prefix + member.alias
        if (value := _value(cls, member, posted, name)) is not _ABSENT:
            found[member.alias] = value
    return found


_ABSENT: Final = object()


def _value(cls: Any, member: Member, posted: Posted, name: str) -> Any:
    form = shape(member.hint)
    record, items = form.record(), form.items()
    if record is not None:
        return _group(record, form, posted, name)
    if items is not None and (of_items := shape(items).record()) is not None:
        return _rows(of_items, posted, name)
    sent = posted.get(name)
    if sent is None:
        return _ABSENT
    kind = control(cls, member)
    if items is not None and kind in ("checks", "choice"):
        chosen = [text.strip() for text in sent if text.strip()]
        return chosen if chosen or not form.nullable else None
    return _read(form, kind, sent[-1])


def _group(record: Any, form: Shape, posted: Posted, name: str) -> Any:
    if not any(key.startswith(f"{name}.") for key in posted):
        return _ABSENT
    below = body(record, posted, prefix=f"{name}.")
    if form.nullable and not any(_says_something(value) for value in below.values()):
        return None
    return {key: value for key, value in below.items() if value is not None}


def _rows(record: Any, posted: Posted, name: str) -> Any:
    """Return the rows in the order of their numbers, without empty ones."""
    if f"{name}[]" not in posted:
        return _ABSENT
    opening = f"{name}["
    found = {key.removeprefix(opening).partition("]")[0] for key in posted if key.startswith(opening)}
    numbers = sorted(int(text) for text in found if text.isascii() and text.isdigit() and len(text) < 6)
    rows = (body(record, posted, prefix=f"{name}[{number}].") for number in numbers[:_MOST_ROWS])
    return [
        {key: value for key, value in row.items() if value is not None}
        for row in rows
        if any(isinstance(value, str | int | float) and _says_something(value) for value in row.values())
    ]


def _says_something(value: Any) -> bool:
    return value not in (None, "", [], {}, False)


def _read(form: Shape, kind: str, text: str) -> Any:
    if kind == "switch":
        return text == "on"
    if kind not in ("secret", "area"):
        text = text.strip()
    if not text.strip():
        return None
    return _READERS.get(kind, _plain)(form, text.replace("\r\n", "\n"))


def _plain(form: Shape, text: str) -> Any:
    if form.items() is not None and "," in text:
        return [_one(part.strip(), form) for part in text.split(",") if part.strip()]
    return _one(text, form)


def _one(text: str, form: Shape) -> Any:
    if int in form.options and _INTEGER.fullmatch(text):
        return int(text)
    if float not in form.options or not _NUMBER.fullmatch(text):
        return text
    # Where digits may be sent as text, none of them may be lost.
    return float(text) if str not in form.options or str(float(text)) == text else text


def _number(form: Shape, text: str) -> Any:
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) and form else text


def _lines(form: Shape, text: str) -> Any:
    """Return a list; a single line stays a text if the field allows that too."""
    of_items = shape(form.items() or str)
    found = [_one(line.strip(), of_items) for line in text.split("\n") if line.strip()]
    return found[0] if len(found) == 1 and str in form.options else found


def _pairs(form: Shape, text: str) -> Any:
    """Parse ``name: value`` lines, or JSON; a line without a colon is a name without a value."""
    if text.lstrip().startswith(("[", "{")):
        return _json(form, text)
    return dict(_pair(line) for line in text.split("\n") if line.strip())


def _pair(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip(), value.strip()


def _json(form: Shape, text: str) -> Any:
    del form
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


_READERS: Final = {"number": _number, "lines": _lines, "pairs": _pairs, "json": _json}
