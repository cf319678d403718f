"""Series: what their labels may be, and which filters they pass."""

import pytest

from collector.core.series import BadSeries, check, key, matcher

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
    ],
)
def test_all_filters_must_pass(filters: dict[str, str], passes: bool) -> None:
    assert matcher(filters)(NODE) is passes


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
