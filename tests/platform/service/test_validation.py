"""What callers send is read as they meant it, or every bad field is named at once."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Interval, MaxLen, MinLen, Predicate
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.platform.monitor import MonitorSettings
from collector.platform.validation.validation import check, read, to_json
from shared.errors import Invalid
from shared.kinds.fields import ErrorText
from shared.kinds.heartbeat import Heartbeat
from shared.kinds.http import Http
from shared.kinds.tcp import Tcp

URL = "https://shop.example.com/"
STATUS = 'must be a status (200), a range ("200-299"), or a list of those'
METHODS = "must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    high: float
    low: Annotated[float, Interval(ge=0)] = 0.0

    def faults(self) -> dict[str, str]:
        return {} if self.high > self.low else {"high": "must be above low"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: Annotated[str, MinLen(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    the_name: Annotated[str, MinLen(2), MaxLen(4)]
    limits: Limits | None = None
    parts: Annotated[list[Part], MaxLen(2)] = field(default_factory=list)
    kind: Literal["Plain", "fancy"] = "Plain"
    even: Annotated[int, Predicate(lambda number: number % 2 == 0), ErrorText("must be even")] = 0
    share: Annotated[float, Interval(ge=0, le=1)] = 1.0


@pytest.mark.parametrize(
    ("cls", "sent", "details"),
    [
        pytest.param(Http, {}, {"url": "URL is required"}, id="a required field is missing"),
        pytest.param(Http, {"url": None}, {"url": "URL is required"}, id="null is missing"),
        pytest.param(Http, {"url": 3}, {"url": "must be a string"}, id="a wrong type"),
        pytest.param(Http, {"url": ""}, {"url": "must not be empty"}, id="an empty text"),
        pytest.param(
            Heartbeat,
            {"expectedInterval": 0},
            {"expectedInterval": 'must be 1 second to 366 days, in seconds (3600) or as "15m", "24h", "7d"'},
            id="a bad one of two of which either is needed is not called missing",
        ),
        pytest.param(Http, {"url": "ftp://x"}, {"url": "must be an http or https URL"}, id="a kind's words"),
        pytest.param(Http, {"url": URL, "method": "FETCH"}, {"method": METHODS}, id="a choice"),
        pytest.param(
            Http, {"url": URL, "timeout": 0}, {"timeout": "must be between 1 and 120"}, id="too small"
        ),
        pytest.param(
            Http, {"url": URL, "timeout": 121}, {"timeout": "must be between 1 and 120"}, id="too large"
        ),
        pytest.param(
            Http, {"url": URL, "timeout": "5"}, {"timeout": "must be a whole number"}, id="text is no number"
        ),
        pytest.param(
            Http, {"url": URL, "timeout": 2.5}, {"timeout": "must be a whole number"}, id="no whole number"
        ),
        pytest.param(
            Http, {"url": URL, "timeout": True}, {"timeout": "must be a whole number"}, id="true is no number"
        ),
        pytest.param(
            Http, {"url": URL, "verifyTls": 1}, {"verifyTls": "must be true or false"}, id="1 is not true"
        ),
        pytest.param(Http, {"url": URL, "auth": []}, {"auth": "must be an object"}, id="no object"),
        pytest.param(
            Http, {"url": URL, "auth": {}}, {"auth.type": "Type is required"}, id="a deeper field is missing"
        ),
        pytest.param(
            Http,
            {"url": URL, "auth": {"type": "basic"}},
            {"auth.username": "Username is required"},
            id="fields that need each other",
        ),
        pytest.param(
            Http,
            {"url": URL, "headers": {"A": True}},
            {"headers.A": "must be a string"},
            id="a value by its key",
        ),
        pytest.param(
            Http,
            {"url": URL, "expectedStatus": 999},
            {"expectedStatus": STATUS},
            id="a union in its own words",
        ),
        pytest.param(
            Http, {"url": URL, "expectedStatus": {}}, {"expectedStatus": STATUS}, id="no member of a union"
        ),
        pytest.param(
            Http,
            {"url": URL, "expectedStatus": [200, "abc", "300-299"]},
            {"expectedStatus[1]": STATUS, "expectedStatus[2]": STATUS},
            id="items by their index",
        ),
        pytest.param(
            Http, {"url": URL, "body": "a\0b"}, {"body": "must not hold a NUL character"}, id="NUL in a text"
        ),
        pytest.param(
            Http,
            {"url": URL, "headers": {"a\0": "b"}},
            {
                "headers": "must not hold a NUL character",
            },
            id="NUL in a name",
        ),
        pytest.param(
            Tcp, {"host": "a b", "port": 1}, {"host": "must be a host name or an IP address"}, id="host"
        ),
        pytest.param(
            Tcp,
            {"host": "x", "port": 65536},
            {"port": "must be between 1 and 65535"},
            id="a port that does not exist",
        ),
        pytest.param(
            Tcp, {"host": "x", "port": 1e300}, {"port": "must be a whole number"}, id="a huge number"
        ),
        pytest.param(
            Thing, {"theName": "a"}, {"theName": "must be at least 2 characters long"}, id="too short a text"
        ),
        pytest.param(
            Thing,
            {"theName": "abcde"},
            {"theName": "must be at most 4 characters long"},
            id="too long a text",
        ),
        pytest.param(
            Thing,
            {"theName": "abc", "parts": [{"name": "x"}, {"name": ""}]},
            {"parts[1].name": "must not be empty"},
            id="a field of an item",
        ),
        pytest.param(
            Thing,
            {"theName": "abc", "parts": [{"name": "x"}] * 3},
            {"parts": "must have at most 2 entries"},
            id="too many",
        ),
        pytest.param(
            Thing,
            {"theName": "abc", "limits": {"high": 1, "low": -1}},
            {"limits.low": "must be at least 0"},
            id="one bound alone",
        ),
        pytest.param(
            Thing, {"theName": "abc", "even": 3}, {"even": "must be even"}, id="a predicate's words"
        ),
        pytest.param(
            Thing,
            {"limits": {"high": 1, "low": 2}, "even": 3, "share": "x", "kind": "odd", "parts": {}},
            {
                "theName": "The name is required",
                "limits.high": "must be above low",
                "even": "must be even",
                "share": "must be a number",
                "kind": "must be one of Plain, fancy",
                "parts": "must be a list",
            },
            id="all of them at once",
        ),
    ],
)
def test_every_bad_field_is_named(cls: type[Any], sent: dict[str, Any], details: dict[str, str]) -> None:
    with pytest.raises(Invalid) as caught:
        check(cls, sent)

    assert caught.value.details == details


@pytest.mark.parametrize(
    ("cls", "sent", "name", "value"),
    [
        pytest.param(Tcp, {"host": "x", "port": "5432"}, "port", 5432, id="a port as text"),
        pytest.param(Tcp, {"host": "x", "port": " 80 "}, "port", 80, id="with blanks around it"),
        pytest.param(Tcp, {"host": "x", "port": 80.0}, "port", 80, id="a whole number with a point"),
        pytest.param(Http, {"url": URL, "method": "post"}, "method", "POST", id="a word in small letters"),
        pytest.param(Http, {"url": URL, "method": None}, "method", "GET", id="null means the default"),
        pytest.param(Http, {"url": URL, "body": None}, "body", None, id="null where null is allowed"),
        pytest.param(Http, {"url": URL, "ipVersion": 4}, "ip_version", "4", id="a word that is a number"),
        pytest.param(
            Http, {"url": URL, "body": {"a": [1, None]}}, "body", '{"a":[1,null]}', id="an object as its JSON"
        ),
        pytest.param(Http, {"url": URL, "body": [{}]}, "body", "[{}]", id="a list as its JSON"),
        pytest.param(
            Http, {"url": URL, "headers": {"X": 2}}, "headers", {"X": "2"}, id="a number among texts"
        ),
        pytest.param(
            Http,
            {"url": URL, "expectedStatus": [200, "300-308"]},
            "expected_status",
            [200, "300-308"],
            id="a list of statuses",
        ),
        pytest.param(Thing, {"theName": "abc", "share": 1}, "share", 1.0, id="a whole number for a fraction"),
        pytest.param(
            MonitorSettings, {"name": "x", "quorum": "2"}, "quorum", 2, id="a number of locations as text"
        ),
        pytest.param(
            MonitorSettings, {"name": "x", "quorum": "ALL"}, "quorum", "all", id="a word in large letters"
        ),
    ],
)
def test_reads_what_was_meant(cls: type[Any], sent: dict[str, Any], name: str, value: object) -> None:
    found, unknown = check(cls, sent)

    assert getattr(found, name) == value
    assert unknown == []


def test_unknown_fields_are_no_fault_but_listed_with_their_path() -> None:
    sent = {"theName": "abc", "nope": 1, "limits": {"high": 2, "hihg": 3}, "parts": [{"name": "x", "y": 1}]}

    thing, unknown = check(Thing, sent)

    assert thing == Thing(the_name="abc", limits=Limits(high=2.0), parts=[Part(name="x")])
    assert unknown == ["nope", "limits.hihg", "parts[0].y"]


def test_a_prefix_stands_before_every_name() -> None:
    found = read(Thing, {"limits": {"high": 0}, "nope": 1}, prefix="thing.")

    assert found.value is None
    assert found.unknown == ["thing.nope"]
    assert found.faults == {
        "thing.theName": "The name is required",
        "thing.limits.high": "must be above low",
    }


def test_json_has_every_default_and_reads_back_the_same() -> None:
    thing, _ = check(Thing, {"theName": "abc", "limits": {"high": 2}})

    shown = to_json(thing)

    assert shown == {
        "theName": "abc",
        "limits": {"high": 2.0, "low": 0.0},
        "parts": [],
        "kind": "Plain",
        "even": 0,
        "share": 1.0,
    }
    assert check(Thing, shown) == (thing, [])


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=4), inside, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["url", "headers", "body", "expectedStatus", "timeout", "auth", "ipVersion", "nope"]),
        JSON | st.fixed_dictionaries({"type": JSON, "token": JSON}),
    )
)
def test_any_json_is_read_or_refused_by_name(sent: dict[str, Any]) -> None:
    found = read(Http, sent)

    assert (found.value is None) == bool(found.faults)
    if found.value is not None:
        assert check(Http, to_json(found.value)) == (found.value, [])


def test_a_list_that_is_too_long_is_read_only_as_far_as_shows_it() -> None:
    found = read(Thing, {"theName": "abc", "parts": [{"name": "x", "odd": 1}] * 100_000})

    assert found.faults == {"parts": "must have at most 2 entries"}
    assert found.unknown == [f"parts[{index}].odd" for index in range(3)]
