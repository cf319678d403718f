"""A form field as templates draw it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Control = Literal[
    "text",
    "number",
    "secret",
    "area",
    "switch",
    "choice",
    "checks",
    "lines",
    "pairs",
    "json",
    "group",
    "rows",
]


@dataclass(frozen=True, slots=True)
class OptionSearch:
    """A search among more options than are shown: *text*: the query, *said*: its outcome."""

    text: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """*name*: the path in the API's body (``config.auth.type``); *value*: the text in the field.

    *checked*: for ``switch`` and ``checks``; *options*: value and label. A ``group`` and ``rows`` have
    *fields* and *rows* below them, ``rows`` also a *blank* one. *finder*: there are more options than these.
    *repeats*: the field whose text must be repeated here. *example*: shown while it is empty.
    """

    name: str
    label: str
    control: Control
    help: str = ""
    value: str = ""
    options: tuple[tuple[str, str], ...] = ()
    checked: frozenset[str] = frozenset()
    required: bool = False
    least: str | None = None
    most: str | None = None
    longest: int | None = None
    shortest: int | None = None
    repeats: str = ""
    unit: str = ""
    example: str = ""
    fault: str = ""
    autocomplete: str = "off"
    fields: "tuple[FormField, ...]" = ()
    rows: "tuple[tuple[FormField, ...], ...]" = ()
    blank: "tuple[FormField, ...]" = ()
    finder: OptionSearch | None = None

    @property
    def id(self) -> str:
        """The id of its element in the page."""
        return "f-" + self.name.replace(".", "-").replace("[", "-").replace("]", "")


@dataclass(frozen=True, slots=True)
class Form:
    """Fields, and the faults that belong to none of them."""

    fields: tuple[FormField, ...]
    faults: Mapping[str, str]

    @property
    def bad(self) -> list[FormField]:
        """The fields with a fault, including those in groups, for the summary at the top."""
        return [member for member in _all(self.fields) if member.fault]

    def named(self, *names: str) -> list[FormField]:
        """Return the named fields, in that order."""
        known = {member.name: member for member in self.fields}
        return [known[name] for name in names if name in known]

    def but(self, *names: str) -> list[FormField]:
        """Return all other fields."""
        return [member for member in self.fields if member.name not in names]


def _all(fields: tuple[FormField, ...]) -> list[FormField]:
    return [
        each
        for member in fields
        for each in (member, *_all(member.fields), *(cell for row in member.rows for cell in _all(row)))
    ]
