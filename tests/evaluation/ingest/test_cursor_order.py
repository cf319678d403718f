"""Which waiting batches are committed together: whole ones, in the order of their cursors."""

from uuid import UUID

import pytest

from collector.evaluation.writer import CursorOrder, Submission
from shared.wire.convert import Batch

HERE, THERE = UUID(int=1), UUID(int=2)


def batch(seq: int, results: int = 1, *, probe: UUID = HERE, first: int = 0, session: int = 1) -> Submission:
    """A batch with one number, or from *first* on, as a gap has it."""
    content = Batch(7, first or seq, seq, boot_id="", base_us=0, wall_us=0, monitor=[1] * results)
    return Submission(session, probe, content, 0)


@pytest.mark.parametrize(
    ("waiting", "chosen"),
    [
        pytest.param([batch(1), batch(2), batch(3)], [0, 1, 2], id="all that follow each other"),
        pytest.param([batch(5)], [0], id="the first, wherever its cursor is: the database knows"),
        pytest.param([batch(1), batch(3), batch(4)], [0], id="none after a hole"),
        pytest.param([batch(1), batch(3), batch(2)], [0], id="none after a hole, though it would fit"),
        pytest.param([batch(1), batch(5, first=2), batch(6)], [0, 1, 2], id="a gap counts with its length"),
        pytest.param([batch(1), batch(1, probe=THERE), batch(2)], [0, 1, 2], id="probes do not mix"),
        pytest.param([batch(1), batch(3), batch(1, probe=THERE)], [0, 2], id="a hole holds only its own"),
        pytest.param([batch(1), batch(2, session=2)], [0], id="another session waits"),
        pytest.param([batch(1, 4), batch(2, 9), batch(3, 1)], [0, 1], id="whole batches, up to the limit"),
        pytest.param([batch(1, 99), batch(2, 1)], [0], id="at least one, however long"),
    ],
)
def test_what_is_committed_together(waiting: list[Submission], chosen: list[int]) -> None:
    assert CursorOrder(most_results=10).choose(waiting) == chosen
