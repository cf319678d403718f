"""Assertions: which hold for an answer, and how the failed ones read."""

import asyncio
import random
import time
from itertools import pairwise
from typing import Any

import jsonpath
import pytest

from probe.net.assertions import CheckAnswer, compile_aside, compile_assertions
from shared.assertions import Assertion, Op
from shared.effort import Meter, TooCostly
from shared.json_paths import MOST_FOUND, fault, path

pytestmark = pytest.mark.races

BODY = b"""{"status": "ok", "n": 3, "f": 2.5, "up": true, "none": null, "list": [1, 2, "x"],
"deep": {"a-b": [{"name": "one", "load": 5}, {"name": "two", "load": 9}]}}"""
ANSWER = CheckAnswer(
    200, [("Content-Type", "text/html"), ("X-Count", "12"), ("Via", "a"), ("via", "b")], BODY, 123.4, 29.9
)


def told(answer: CheckAnswer = ANSWER, **words: Any) -> str:
    assertion = Assertion(**words)
    assert assertion.faults() == {}
    return compile_assertions([assertion])(answer, Meter())


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
    answer = CheckAnswer(200, [], body, 1.0, None)

    assert told(answer, source="json", path="a", value=1) == (
        "assertion failed: json a eq 1, but the body is not JSON"
    )
    assert told(answer, source="json", path="a", op="exists", value=False) == ""


def test_the_first_that_fails_is_told_of() -> None:
    good, bad, worse = (Assertion(source="status", value=code) for code in (200, 201, 202))

    assert (
        compile_assertions([good, bad, worse])(ANSWER, Meter())
        == "assertion failed: status eq 201, found 200"
    )


def test_what_is_long_is_cut() -> None:
    answer = CheckAnswer(200, [], b"x" * 100_000, 1.0, None)

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
    assert (fault(text) == "") == good


@pytest.mark.parametrize(
    "document", [None, 1, "x", [], {}, [[[[]]]], {"a": None}, {"a": [1]}, {"a": {"b": [0, {"c": 1}]}}]
)
@pytest.mark.parametrize("text", ["a.b[1].c", "$.a['b'][1].c", "$..c", "$.a.b[*].c"])
def test_no_document_is_too_odd(text: str, document: Any) -> None:
    found = path(text)(document, Meter())

    assert list(found) == ([1] if document == {"a": {"b": [0, {"c": 1}]}} else [])


def test_a_pattern_within_a_path_does_not_run_long() -> None:
    find = path("$[?search(@, '^(a+)+$')]")

    assert list(find(["a" * 5_000 + "b"], Meter())) == []


@pytest.mark.parametrize("text", ["$..[*]..zzz", "$..a[?@..b]", "$..a[?count($..b) > 1]", "$[?@..a && @..b]"])
def test_a_path_with_a_second_descent_is_refused(text: str) -> None:
    assertion = Assertion(source="json", path=text, op="exists")

    assert assertion.faults() == {"path": "must have at most one `..`, in filters too"}


async def test_a_stored_path_that_would_never_end_is_told_as_too_costly() -> None:
    nested = CheckAnswer(200, [], b"[" * 60 + b"1" + b"]" * 60, 1.0, None)
    endless = Assertion(source="json", path="$" + "..[*]" * 12 + ".zzz", op="exists")

    assert await compile_aside([endless])(nested) == "assertion failed: path too costly"


@pytest.mark.parametrize(
    "text",
    [
        "$[?count(@..*) > count($..*)]",
        "$[?count($[?@ == $[0]]) > 9]",
        "$[?@ == $[1]]",
        "$[*,*][*,*][*,*][*,*][*,*][*,*]",
        "$[?search(@[0], @[1])]",
    ],
)
def test_no_path_looks_at_more_than_it_may(text: str) -> None:
    same = [[0] * 3_000 for _ in range(3_000)]
    patterns = [["a", f"(a|b){{{size}}}"] for size in range(1, 1_000)]
    for document in (same, patterns):
        meter = Meter()
        try:
            found = len(path(text)(document, meter))
        except TooCostly:
            found = 0

        assert found <= MOST_FOUND


async def test_all_assertions_of_an_answer_share_what_they_may_cost() -> None:
    body = CheckAnswer(200, [], b"[" + b"1," * 4_000 + b"1]", 1.0, None)
    assertion = Assertion(source="json", path="$..[?@ > 1]", op="exists", value=False)

    assert await compile_aside([assertion])(body) == ""
    assert await compile_aside([assertion] * 50)(body) == "assertion failed: path too costly"


async def test_a_pattern_sees_the_beginning_of_a_large_body() -> None:
    body = CheckAnswer(200, [], b"x" * 5_000_000 + b"end", 1.0, None)

    assert await compile_aside([Assertion(source="body", op="matches", value="^x+")])(body) == ""
    assert "too costly" not in await compile_aside([Assertion(source="body", op="matches", value="end$")])(
        body
    )
    assert await compile_aside([Assertion(source="body", op="contains", value="end")])(body) == ""


async def test_many_heavy_patterns_are_too_costly_together() -> None:
    heavy = Assertion(source="body", op="matches", value="(a|b)*a[ab]{201}c")
    body = CheckAnswer(200, [], b"ab" * 100_000 + b"c", 1.0, None)

    assert await compile_aside([heavy])(body) == ""
    assert await compile_aside([heavy] * 50)(body) == "assertion failed: pattern too costly"


async def test_a_costly_look_leaves_the_loop_free() -> None:
    heavy = Assertion(source="body", op="matches", value="(a|b)*a[ab]{201}c")
    body = CheckAnswer(200, [], b"ab" * 100_000 + b"c", 1.0, None)
    beats, began = [time.monotonic()], time.monotonic()
    looking = asyncio.ensure_future(compile_aside([heavy])(body))
    while not looking.done():
        await asyncio.sleep(0.001)
        beats.append(time.monotonic())

    assert max(later - sooner for sooner, later in pairwise(beats)) < (time.monotonic() - began) / 2


async def test_a_document_of_too_many_values_is_not_read() -> None:
    body = CheckAnswer(200, [], b"[" + b"[]," * 1_000_000 + b"[]]", 1.0, None)
    first = Assertion(source="json", path="[0]", op="exists")

    assert await compile_aside([first])(body) == (
        "assertion failed: body of more than 200000 values too costly"
    )


def test_paths_find_what_the_reference_finds() -> None:
    environment, rng = jsonpath.JSONPathEnvironment(strict=True), random.Random(9535)
    for _ in range(1_000):
        text, document = _query(rng, 2, "$"), _document(rng, 4)
        expected = [match.obj for match in environment.compile(text).finditer([document])]

        found = path(text)([document], Meter(10**9, 10**9))

        assert repr(list(found)) == repr(expected[:MOST_FOUND]), (text, document)


def _document(rng: random.Random, depth: int) -> Any:
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return rng.choice([1, 2, 0, None, 2.5, -1])
    below = [_document(rng, depth - 1) for _ in range(rng.randint(0, 4))]
    return below if kind < 0.65 else dict(zip("abcd", below, strict=False))


def _query(rng: random.Random, depth: int, start: str) -> str:
    steps = [".a", ".b", "[0]", "[-1]", "[*]", "[1:]", "[::-1]", "..a", "..*", "['a',0,*]"]
    text = start
    for _ in range(rng.randint(1, 3)):
        text += f"[?{_test(rng, depth - 1)}]" if depth and rng.random() < 0.2 else rng.choice(steps)
    return text


def _test(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if kind < 0.2:
        return f"!({_value(rng, depth)} < {_value(rng, depth)})"
    if kind < 0.4:
        return f"{_query(rng, depth, '@')} && {_value(rng, depth)} != {_value(rng, depth)}"
    return f"{_value(rng, depth)} {rng.choice(['==', '<=', '>'])} {_value(rng, depth)}"


def _value(rng: random.Random, depth: int) -> str:
    nodes = _query(rng, depth, "@")
    some = [
        "@",
        "@.a",
        "$[0].b",
        "@[0]",
        "1",
        "2.5",
        "null",
        "length(@)",
        f"count({nodes})",
        f"value({nodes})",
    ]
    return rng.choice(some)


@pytest.mark.parametrize(
    ("op", "value"), [("eq", "x"), ("contains", "x"), ("matches", "x"), ("exists", False)]
)
async def test_a_value_nested_too_deeply_to_be_written_is_told_as_too_costly(op: Op, value: Any) -> None:
    judge = compile_aside([Assertion(source="json", path="$", op=op, value=value)])
    deep = b'{"a":' * 400 + b"1" + b"}" * 400

    assert await judge(CheckAnswer(200, (), deep, 1.0, None)) == "assertion failed: nested value too costly"


async def test_a_plain_value_within_deep_nesting_is_compared() -> None:
    judge = compile_aside([Assertion(source="json", path="$[1]", op="eq", value="x")])

    assert await judge(CheckAnswer(200, (), b"[" * 400 + b"]" * 399 + b', "x"]', 1.0, None)) == ""


@pytest.mark.parametrize("text", ["$[?@>1e999]", "$[?@ == -1E4000]"])
def test_a_number_beyond_all_measure_makes_no_path(text: str) -> None:
    assert fault(text) == "must be a JSONPath"
    with pytest.raises(ValueError, match="not a JSONPath"):
        path(text)
