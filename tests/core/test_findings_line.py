"""Which of two readings of a chain tells what comes late."""

import orjson
import pytest

from collector.core.findings import Line, found_again, line

MINE, OTHER = Line("mine", 7), Line("other", 9)


def test_a_line_is_read_from_the_checkpoint_of_a_probe() -> None:
    assert line(orjson.dumps({"about": "x", "more": {"line": ["mine", 7, 12]}})) == MINE


@pytest.mark.parametrize(
    "state",
    [
        None,
        b"",
        b"\xff",
        b"[]",
        b"7",
        b'{"more":{}}',
        b'{"more":null}',
        b'{"more":{"line":7}}',
        b'{"more":{"line":[]}}',
        b'{"more":{"line":[7,7]}}',
        b'{"more":{"line":["mine","7"]}}',
        b'{"more":{"line":["mine",true]}}',
    ],
)
def test_of_what_is_no_line_nothing_is_read(state: bytes | None) -> None:
    assert line(state) is None


def test_what_comes_late_is_told_by_who_goes_on_unless_it_is_of_its_own_or_nobody_says() -> None:
    assert found_again(OTHER, MINE) == 7
    assert found_again(None, MINE) == 7
    assert found_again(MINE, MINE) is None
    assert found_again(OTHER, None) is None
