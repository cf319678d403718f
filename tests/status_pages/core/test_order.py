"""The order of a page after a component or a group was moved."""

import pytest

from collector.status_pages.core.order import moved, moved_group

FLAT = [("a", ""), ("b", "Web"), ("c", "Web"), ("d", "Data"), ("e", "Web")]


@pytest.mark.parametrize(
    ("item", "before", "order"),
    [
        pytest.param("c", "a", "cab", id="to the front"),
        pytest.param("a", None, "bca", id="to the end"),
        pytest.param("a", "c", "bac", id="between"),
        pytest.param("b", "b", "abc", id="before itself"),
    ],
)
def test_a_component_is_moved(item: str, before: str | None, order: str) -> None:
    assert moved("abc", item, before) == list(order)


@pytest.mark.parametrize(
    ("item", "before", "order"),
    [
        pytest.param("d", "b", "adbce", id="before another group"),
        pytest.param("e", "a", "bcead", id="a group by any of its components"),
        pytest.param("a", None, "bceda", id="those without a group, to the end"),
        pytest.param("b", "c", "abced", id="before itself"),
    ],
)
def test_a_group_is_moved_whole(item: str, before: str | None, order: str) -> None:
    assert moved_group(FLAT, item, before) == list(order)


@pytest.mark.parametrize(("item", "before"), [("x", None), ("a", "x")])
def test_what_is_not_on_the_page_is_not_moved(item: str, before: str | None) -> None:
    with pytest.raises(ValueError, match="not in"):
        moved_group(FLAT, item, before)
    with pytest.raises(ValueError, match="not in"):
        moved([component for component, _ in FLAT], item, before)
