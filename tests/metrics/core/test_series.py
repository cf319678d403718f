"""Series: what their labels may be, and which filters they pass."""

import pytest

from collector.metrics.core.series import BadSeries, check, key, matcher
from shared.kinds.prometheus import parse_matcher

NODE = {"__name__": "up", "job": "node", "env": "prod"}


@pytest.mark.parametrize(
    ("filters", "passes"),
    [
        ({}, True),
        ({"job": "node"}, True),
        ({"job": "nod"}, False),
        ({"job": "=~nod"}, False),
        ({"job": "=~no(de|rd)"}, True),
        ({"job": "!~no.*"}, False),
        ({"job": "!=db"}, True),
        ({"zone": ""}, True),
        ({"zone": "!="}, False),
        ({"zone": "=~.*"}, True),
        ({"job": "node", "env": "dev"}, False),
        ({"__name__": "=~up|down"}, True),
        ({"job": ["db", "node"]}, True),
        ({"job": ["db", "=~no.*"], "env": "dev"}, False),
        ({"job": ["db", "web"]}, False),
        ([], True),
        (['job="node"', "env=~'prod|test'"], True),
        (['job = "node"', 'job!~"no.*"'], False),
        (['env!="dev"', "job=node"], True),
        (["job", "env"], True),
        (["job", "zone"], False),
        (['job="\\x6eode"'], False),
        (['job="no\\de"'], True),
    ],
)
def test_all_filters_must_pass(filters: dict[str, str | list[str]] | list[str], passes: bool) -> None:
    assert matcher(filters)(NODE) is passes


@pytest.mark.parametrize(
    ("text", "name", "filter_"),
    [
        ('job="a\\"b"', "job", 'a"b'),
        ('job="=~x.y"', "job", "=~=\\~x\\.y"),
        ("service.name", "service.name", "!="),
        ('job=""', "job", ""),
    ],
)
def test_a_matcher_is_a_name_and_a_filter(text: str, name: str, filter_: str) -> None:
    assert parse_matcher(text) == (name, filter_)


@pytest.mark.parametrize("text", ["", "=x", '{job="x"}', 'job="x', "a b", 'job="x" env="y"', "job~x"])
def test_what_is_no_matcher_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no matcher"):
        parse_matcher(text)


def test_a_hostile_pattern_takes_no_time() -> None:
    assert not matcher({"job": "=~(a+)+$"})({"job": "a" * 8_000 + "!"})


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"job": "node"}, "no __name__"),
        ({"__name__": "up", "": "x"}, "no name"),
        ({"__name__": "up", "a": "\0"}, "NUL"),
        ({"__name__": "up", "a": "x" * 9_000}, "8192"),
        ({"__name__": "up", **{str(i): "x" for i in range(200)}}, "100 labels"),
    ],
)
def test_bad_labels_are_told(labels: dict[str, str], said: str) -> None:
    with pytest.raises(BadSeries, match=said):
        check(labels, count=len(labels))


def test_the_same_label_twice_is_told() -> None:
    with pytest.raises(BadSeries, match="twice"):
        check(NODE, count=4)


def test_the_order_of_labels_makes_no_other_series() -> None:
    assert key(NODE) == key(dict(reversed(NODE.items())))
    assert key(NODE) != key({**NODE, "env": "dev"})
