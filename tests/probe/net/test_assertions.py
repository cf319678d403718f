"""Assertions: what holds of an answer, and in which words one that does not is told of."""

from typing import Any

import pytest

from probe.net.assertions import Answer, judge
from shared.assertions import Assertion
from shared.json_paths import is_path, path

BODY = b"""{"status": "ok", "n": 3, "f": 2.5, "up": true, "none": null, "list": [1, 2, "x"],
"deep": {"a-b": [{"name": "one", "load": 5}, {"name": "two", "load": 9}]}}"""
ANSWER = Answer(
    200, [("Content-Type", "text/html"), ("X-Count", "12"), ("Via", "a"), ("via", "b")], BODY, 123.4, 29.9
)


def told(answer: Answer = ANSWER, **words: Any) -> str:
    assertion = Assertion(**words)
    assert assertion.faults() == {}
    return judge([assertion])(answer)


@pytest.mark.parametrize(
    ("source", "at", "op", "value"),
    [
        ("status", "", "eq", 200),
        ("status", "", "ne", 500),
        ("status", "", "lt", 300),
        ("status", "", "exists", None),
        ("responseTime", "", "le", 123),
        ("certificateDays", "", "ge", 29),
        ("certificateDays", "", "lt", "30"),
        ("header", "content-type", "contains", "html"),
        ("header", "X-COUNT", "gt", 11.5),
        ("header", "x-count", "eq", 12),
        ("header", "via", "eq", "b"),
        ("header", "x-none", "exists", False),
        ("body", "", "contains", '"status": "ok"'),
        ("body", "", "notContains", "error"),
        ("body", "", "matches", r"\"n\":\s+\d,"),
        ("json", "status", "eq", "ok"),
        ("json", "$.status", "ne", "bad"),
        ("json", "n", "eq", 3),
        ("json", "n", "eq", "3"),
        ("json", "f", "gt", 2),
        ("json", "up", "eq", True),
        ("json", "none", "eq", None),
        ("json", "none", "exists", True),
        ("json", "gone", "exists", False),
        ("json", "list", "contains", "x"),
        ("json", "list", "notContains", "y"),
        ("json", "list[1]", "eq", 2),
        ("json", "deep", "contains", "a-b"),
        ("json", "$.deep['a-b'][*].name", "eq", "two"),
        ("json", "$.deep['a-b'][*].name", "ne", "three"),
        ("json", "$.deep['a-b'][?@.load > 6].name", "eq", "two"),
        ("json", "$..[?match(@.name, 't.o')].load", "eq", 9),
        ("json", "$..[?search(@.name, '^(o+)+n')].load", "eq", 5),
        ("json", "$.list[-1]", "eq", "x"),
    ],
)
def test_what_holds_is_not_told_of(source: str, at: str, op: str, value: Any) -> None:
    assert told(source=source, path=at, op=op, value=value) == ""


@pytest.mark.parametrize(
    ("source", "at", "op", "value", "words"),
    [
        ("status", "", "eq", 204, "status eq 204, found 200"),
        ("responseTime", "", "lt", 100, "responseTime lt 100, found 123"),
        ("certificateDays", "", "gt", 30, "certificateDays gt 30, found 29"),
        ("header", "x-none", "eq", "a", 'header x-none eq "a", found nothing'),
        ("header", "x-none", "exists", None, "header x-none exists, found nothing"),
        ("header", "via", "exists", False, 'header via does not exist, found "a" and 1 more'),
        ("header", "content-type", "lt", 5, 'header content-type lt 5, found "text/html"'),
        ("header", "via", "ne", "b", 'header via ne "b", found "a" and 1 more'),
        ("json", "status", "eq", "bad", 'json status eq "bad", found "ok"'),
        ("json", "up", "eq", 1, "json up eq 1, found true"),
        ("json", "none", "eq", "", 'json none eq "", found null'),
        ("json", "n", "gt", 3, "json n gt 3, found 3"),
        ("json", "list", "notContains", 2, 'json list notContains 2, found [1,2,"x"]'),
        ("json", "deep.b.c", "eq", 1, "json deep.b.c eq 1, found nothing"),
        ("json", "$.deep['a-b'][*].load", "gt", 9, "json $.deep['a-b'][*].load gt 9, found 5 and 1 more"),
    ],
)
def test_what_does_not_hold_is_named_with_what_was_found(
    source: str, at: str, op: str, value: Any, words: str
) -> None:
    assert told(source=source, path=at, op=op, value=value) == f"assertion failed: {words}"


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"a":', b"\xff", b"{'a': 1}"])
def test_a_body_that_is_not_json_is_told_of(body: bytes) -> None:
    answer = Answer(200, [], body, 1.0, None)

    assert told(answer, source="json", path="a", value=1) == (
        "assertion failed: json a eq 1, but the body is not JSON"
    )
    assert told(answer, source="json", path="a", op="exists", value=False) == ""


def test_the_first_that_fails_is_told_of() -> None:
    good, bad, worse = (Assertion(source="status", value=code) for code in (200, 201, 202))

    assert judge([good, bad, worse])(ANSWER) == "assertion failed: status eq 201, found 200"


def test_what_is_long_is_cut() -> None:
    answer = Answer(200, [], b"x" * 100_000, 1.0, None)

    assert len(told(answer, source="body", op="contains", value="y" * 4000)) < 300


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("a", True),
        ("a.b[0]", True),
        ("[0]", True),
        ("$", True),
        ("$..*", True),
        ("$['a b']", True),
        ("a b", False),
        ("$.", False),
        ("$[", False),
        ("$.a[?]", False),
        ("$" + "[?@" * 400, False),
    ],
)
def test_a_path_is_told_from_what_is_none(text: str, good: bool) -> None:
    assert is_path(text) == good


@pytest.mark.parametrize(
    "document", [None, 1, "x", [], {}, [[[[]]]], {"a": None}, {"a": [1]}, {"a": {"b": [0, {"c": 1}]}}]
)
@pytest.mark.parametrize("text", ["a.b[1].c", "$.a['b'][1].c", "$..c", "$.a.b[*].c"])
def test_no_document_is_too_odd(text: str, document: Any) -> None:
    found = path(text)(document)

    assert list(found) == ([1] if document == {"a": {"b": [0, {"c": 1}]}} else [])


def test_a_pattern_within_a_path_does_not_run_long() -> None:
    find = path("$[?search(@, '^(a+)+$')]")

    assert list(find(["a" * 5_000 + "b"])) == []
