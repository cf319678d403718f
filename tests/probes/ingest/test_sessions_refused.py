"""Who is turned away calls again and again: the log has it once in a while."""

import grpc
import pytest
import structlog

from collector.platform.storage.db import Db
from collector.probes.sessions.refusals import Refusals
from tests.probes.peer import collecting, enrolled, hello, refusal


class Clock:
    """Seconds, as the test says."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_same_is_said_again_after_a_while_with_how_often_it_was() -> None:
    clock = Clock()
    refusals = Refusals(clock)
    told = []
    for _ in range(301):
        told.append(refusals.calls("a probe", "revoked"))
        clock.now += 4

    assert [calls for calls in told if calls] == [1, 150, 150]


def test_another_probe_and_another_reason_are_another_word() -> None:
    refusals = Refusals(Clock())

    told = [refusals.calls(who, why) for who in "ab" for why in ("revoked", "unknown") for _ in range(3)]

    assert told == [1, 0, 0] * 4


def test_of_probes_without_end_no_more_are_remembered_than_a_thousand() -> None:
    refusals = Refusals(Clock())
    for number in range(5_000):
        assert refusals.calls(str(number), "unknown") == 1

    assert refusals.calls("4500", "unknown") == 0
    assert refusals.calls("3000", "unknown") == 1


@pytest.mark.parametrize(
    ("deed", "code", "why"),
    [
        pytest.param(
            "UPDATE probes SET revoked_at = now()",
            grpc.StatusCode.PERMISSION_DENIED,
            "this probe was revoked at",
            id="revoked",
        ),
        pytest.param(
            "DELETE FROM probes",
            grpc.StatusCode.UNAUTHENTICATED,
            "this probe is not known here",
            id="deleted",
        ),
    ],
)
async def test_a_probe_that_is_out_and_calls_on_is_one_line(
    db: Db, deed: str, code: grpc.StatusCode, why: str
) -> None:
    async with collecting(db) as collector:
        said = hello()
        mine = await enrolled(collector, said)
        await collector.fetch(deed)
        with structlog.testing.capture_logs() as logs:
            for _ in range(4):
                assert (await refusal(collector, said, mine))[0] is code

    [line] = [entry for entry in logs if entry["event"] in {"probe refused", "session ended"}]
    assert line["reason"].startswith(why)
    assert (line["calls"], line["log_level"]) == (1, "info")
