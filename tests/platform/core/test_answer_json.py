"""Response dataclasses as JSON."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import orjson
import pytest

import collector
from collector.platform.answer_json import encode, json_name, omitted, read_only
from collector.platform.answers import OMITTED, Omitted
from shared.clock import iso

AT = datetime(2026, 11, 21, 7, 24, tzinfo=UTC)


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    ends_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    from_: datetime
    uptime24h: float | None
    colour: Colour = Colour.RED
    parts: list[Part] = field(default_factory=list)
    by_name: dict[str, Part] = field(default_factory=dict)
    days_left: Annotated[int | None, Omitted()] = None
    certificate: Annotated[Part | None, Omitted(null=True)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Longer(Answer):
    warnings: Annotated[list[str] | None, Omitted()] = None


def read(answer: Any) -> Any:
    return orjson.loads(encode(answer))


def test_names_are_in_camel_case_and_moments_are_timestamps() -> None:
    assert read(Answer(from_=AT, uptime24h=99.5)) == {
        "from": "2026-11-21T07:24:00.000Z",
        "uptime24h": 99.5,
        "colour": "red",
        "parts": [],
        "byName": {},
        "certificate": None,
    }


def test_only_a_marked_field_is_left_out() -> None:
    shown = read(Longer(from_=AT, uptime24h=None, days_left=0, certificate=OMITTED))

    assert shown["uptime24h"] is None
    assert shown["daysLeft"] == 0
    assert not {"certificate", "warnings"} & shown.keys()


def test_answers_stand_in_lists_dicts_and_each_other() -> None:
    part = {"endsAt": "2026-11-21T07:24:00.000Z"}
    answer = Longer(from_=AT, uptime24h=None, parts=[Part(ends_at=AT)], by_name={"a_b": Part(ends_at=AT)})

    shown = read({"data": [answer], "raw": orjson.Fragment(b"[1]")})

    assert shown["data"][0]["parts"] == [part]
    assert shown["data"][0]["byName"] == {"a_b": part}  # keys of data stay as they are
    assert shown["raw"] == [1]


def test_a_value_that_json_cannot_express_is_refused() -> None:
    with pytest.raises(TypeError, match="JSON"):
        encode({"data": {1, 2}})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    uptime24h: float | None
    from_: datetime


def test_what_is_shown_and_cannot_be_set_is_read_only() -> None:
    names = read_only(Answer, Settings)

    assert names == {"colour", "parts", "byName", "daysLeft", "certificate", "warnings"}


def answer_classes() -> Iterator[type]:
    """Every response dataclass of the features."""
    root = Path(inspect.getfile(collector)).parent
    for path in sorted(root.glob("*/answers.py")):
        module = import_module(f"collector.{path.parent.name}.answers")
        yield from (
            value
            for value in vars(module).values()
            if isinstance(value, type) and is_dataclass(value) and value.__module__ == module.__name__
        )


@pytest.mark.parametrize("absent", [None, OMITTED, AT, "text"])
def test_every_response_class_keeps_its_order_names_and_marks(absent: Any) -> None:
    classes = [*answer_classes()]
    assert len(classes) > 60

    for cls in classes:
        hints = get_type_hints(cls, include_extras=True)
        marks = {each.name: omitted(hints[each.name]) for each in fields(cls)}
        plain = None if absent is OMITTED else absent
        values = {name: plain if mark is None or not mark.null else absent for name, mark in marks.items()}
        shown = {
            json_name(name): iso(value) if isinstance(value, datetime) else value
            for name, value in values.items()
            if not (mark := marks[name]) or value is not (OMITTED if mark.null else None)
        }

        assert encode(cls(**values)) == orjson.dumps(shown), cls.__name__


@pytest.mark.parametrize("microseconds", [0, 1, 999, 1_000, 123_456, 999_999])
@pytest.mark.parametrize(
    "zone", [UTC, timezone(timedelta(0)), timezone(timedelta(hours=-9, minutes=-30)), None]
)
@pytest.mark.parametrize("year", [1970, 2026, 9998])
def test_timestamps_are_those_of_every_other_text(year: int, zone: Any, microseconds: int) -> None:
    moment = datetime(year, 3, 29, 1, 30, 59, microseconds, tzinfo=zone)

    assert orjson.loads(encode([moment])) == [iso(moment)]
