"""Response dataclasses as JSON."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

import orjson
import pytest

from collector.platform.answer_json import encode, read_only
from collector.platform.answers import OMITTED, Omitted

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
