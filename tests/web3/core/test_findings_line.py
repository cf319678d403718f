"""Which of two readings of a chain tells what comes late."""

import orjson
import pytest

from collector.web3.core.findings import (
    ChainReading,
    RereadBlocks,
    RevertedBlocks,
    is_covered,
    line,
    uncovered,
)

MINE, OTHER = ChainReading("mine", 7), ChainReading("other", 9)


def test_a_line_is_read_from_the_checkpoint_of_a_probe() -> None:
    assert line(orjson.dumps({"about": "x", "more": {"line": ["mine", 7, 12]}})) == MINE


def test_so_are_the_forks_that_it_met_and_what_they_made_it_read_once_more() -> None:
    over = [["mine", 1, 4, 6], ["old", 3, 1, 2], ["mine", "1", 4, 6], ["mine", 1, 4], [1, 1, 1, 1], None]
    read = line(orjson.dumps({"more": {"line": ["mine", 7, 12, 13, 2], "over": over}}))
    assert read == ChainReading("mine", 7, 2, (RereadBlocks("mine", 1, 4, 6), RereadBlocks("old", 3, 1, 2)))


def test_of_no_more_forks_is_read_than_a_probe_remembers() -> None:
    read = line(
        orjson.dumps({"more": {"line": ["mine", 7], "over": [["mine", n, n, n] for n in range(5000)]}})
    )
    assert read is not None
    assert [blocks.nth for blocks in read.over] == list(range(4968, 5000))


@pytest.mark.parametrize("more", [{"over": 7}, {"over": {}}, {"over": None}, {}])
def test_a_line_that_says_nothing_of_forks_met_none(more: dict[str, object]) -> None:
    assert line(orjson.dumps({"more": {"line": ["mine", 7, 12, 13, "2"], **more}})) == MINE


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
    assert is_covered(OTHER, MINE, 7)
    assert is_covered(None, MINE, 7)
    assert not is_covered(OTHER, MINE, 6)
    assert not is_covered(None, MINE, 6)
    assert not is_covered(MINE, MINE, 7)
    assert not is_covered(OTHER, None, 7)


@pytest.mark.parametrize(
    ("late", "block", "again"),
    [
        pytest.param(ChainReading("mine", 7), 10, True, id="told before the fork"),
        pytest.param(ChainReading("mine", 7, 1), 10, False, id="told as it was read once more"),
        pytest.param(ChainReading("mine", 7, 1), 12, True, id="and once more again after another fork"),
        pytest.param(ChainReading("mine", 7, 2), 12, False, id="told after both"),
        pytest.param(ChainReading("mine", 7), 9, False, id="before the fork's blocks"),
        pytest.param(ChainReading("mine", 7), 13, False, id="behind them"),
        pytest.param(
            ChainReading("old", 1, 2), 5, True, id="of the line before, before a fork that that one met"
        ),
        pytest.param(ChainReading("old", 1, 3), 5, False, id="of the line before, after it"),
        pytest.param(ChainReading("other", 1), 5, False, id="of a line that met no fork"),
    ],
)
def test_what_was_told_before_a_fork_is_left_to_what_was_read_after_it(
    late: ChainReading, block: int, again: bool
) -> None:
    over = (RereadBlocks("old", 3, 4, 6), RereadBlocks("mine", 1, 10, 12), RereadBlocks("mine", 2, 12, 12))
    assert is_covered(late, ChainReading("mine", 7, 2, over), block) is again


@pytest.mark.parametrize(
    ("late", "kept", "last"),
    [
        pytest.param(OTHER, ChainReading("mine", 6), 5, id="before the line that goes on"),
        pytest.param(None, ChainReading("mine", 6), 5, id="of a line that is not said"),
        pytest.param(OTHER, ChainReading("mine", 9), 8, id="no more than it says"),
        pytest.param(OTHER, ChainReading("mine", 4), None, id="behind its beginning"),
        pytest.param(
            ChainReading("mine", 3, 1), ChainReading("mine", 3, 1), 8, id="of the checkpoint's own line"
        ),
        pytest.param(ChainReading("mine", 3, 1), ChainReading("mine", 3, 2), 8, id="and overtaken by it"),
        pytest.param(
            ChainReading("mine", 3, 2), ChainReading("mine", 3, 1), None, id="of a fork behind the checkpoint"
        ),
        pytest.param(OTHER, None, None, id="of a checkpoint that says no line"),
    ],
)
def test_what_a_fork_undid_counts_late_where_who_goes_on_does_not_say_it(
    late: ChainReading | None, kept: ChainReading | None, last: int | None
) -> None:
    left = uncovered(late, kept, RevertedBlocks(4, 8, {"5": "0x"}))
    assert left == (None if last is None else RevertedBlocks(4, last, {"5": "0x"}))
