"""What pings and their absence say of a job."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from collector.heartbeats.core.heartbeat import (
    MOST_RUNS,
    Beat,
    HeartbeatResult,
    Ping,
    PingSchedule,
    PingSignal,
    awaited,
    check_overdue,
    take,
)
from shared.results import Status

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
S, M, H = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
HOURLY = PingSchedule(wait=H, cron="", zone="UTC", grace=M)
GOOD, FAILED, STARTED = Ping(PingSignal.GOOD), Ping(PingSignal.FAILED), Ping(PingSignal.STARTED)
FRESH = Beat(NOON)


def late(
    beat: Beat, plan: PingSchedule, now: datetime, *deaf: tuple[datetime, datetime]
) -> HeartbeatResult | None:
    return check_overdue(beat, plan, deaf, now)[1]


def test_a_ping_in_time_is_good_and_the_next_is_awaited_from_it() -> None:
    beat, result = take(FRESH, GOOD, HOURLY, NOON + 30 * M)

    assert result == HeartbeatResult(Status.UP, NOON + 30 * M)
    assert awaited(beat, HOURLY) == NOON + 30 * M + H + M


def test_a_missed_ping_is_late_at_the_end_of_the_grace_and_not_before() -> None:
    assert late(FRESH, HOURLY, NOON + H + 59 * S) is None
    assert late(FRESH, HOURLY, NOON + H + M) == HeartbeatResult(
        Status.DOWN, NOON + H + M, "missed: no ping came within 1 h, nor in the 1 m after"
    )


def test_each_further_interval_of_silence_is_a_failure_of_its_own() -> None:
    beat, moments = FRESH, []
    for minute in range(5 * 60):
        beat, result, _ = check_overdue(beat, HOURLY, [], NOON + minute * M)
        moments += [result.at] if result else []

    assert moments == [NOON + n * H + M for n in (1, 2, 3, 4)]


def test_who_looks_late_makes_up_for_one_missed_ping_only() -> None:
    beat, result, due = check_overdue(FRESH, HOURLY, [], NOON + 100 * H)

    assert result is not None
    assert due is not None
    assert NOON + 100 * H < due <= NOON + 101 * H + M
    assert late(beat, HOURLY, NOON + 100 * H) is None


def test_time_in_which_nobody_listened_extends_the_deadline_by_it_and_one_grace() -> None:
    gap = NOON + 30 * M, NOON + 90 * M

    assert late(FRESH, HOURLY, NOON + 2 * H + M, gap) is None
    assert late(FRESH, HOURLY, NOON + 2 * H + 2 * M, gap) is not None


def test_nothing_is_awaited_of_a_job_that_may_wait_for_its_first_ping() -> None:
    assert awaited(Beat(None), HOURLY) is None
    assert check_overdue(Beat(None), HOURLY, [], NOON + 999 * H) == (Beat(None), None, None)
    assert awaited(take(Beat(None), GOOD, HOURLY, NOON)[0], HOURLY) == NOON + H + M


@pytest.mark.parametrize(
    ("ping", "error"),
    [(FAILED, "failed: the job says so"), (Ping(PingSignal.FAILED, code=3), "failed: exit status 3")],
)
def test_a_job_that_says_it_failed_is_down_and_awaited_anew(ping: Ping, error: str) -> None:
    beat, result = take(FRESH, ping, HOURLY, NOON + M)

    assert (result.status, result.error, result.code) == (Status.DOWN, error, ping.code)
    assert awaited(beat, HOURLY) == NOON + M + H + M


def test_the_run_time_is_from_the_start_with_the_same_rid() -> None:
    beat, _ = take(FRESH, Ping(PingSignal.STARTED, rid="a"), HOURLY, NOON)
    beat, _ = take(beat, Ping(PingSignal.STARTED, rid="b"), HOURLY, NOON + 5 * S)

    after, of_b = take(beat, Ping(PingSignal.GOOD, rid="b"), HOURLY, NOON + 9 * S)
    _, of_none = take(beat, GOOD, HOURLY, NOON + 9 * S)
    _, of_a = take(after, Ping(PingSignal.GOOD, rid="a"), HOURLY, NOON + 10 * S)

    assert (of_a.ms, of_b.ms, of_none.ms) == (10_000, 4_000, 0)


def test_a_start_alone_and_a_log_say_nothing_of_how_it_goes() -> None:
    for ping in (STARTED, Ping(PingSignal.LOGGED)):
        beat, result = take(FRESH, ping, HOURLY, NOON + M)

        assert result.status is Status.UNKNOWN
        assert awaited(beat, HOURLY) == NOON + H + M


def test_a_run_that_does_not_end_is_too_long_once_its_time_is_over() -> None:
    plan = replace(HOURLY, max_run=10 * M)
    beat, _ = take(FRESH, STARTED, plan, NOON)

    assert awaited(beat, plan) == NOON + 10 * M
    beat, result, due = check_overdue(beat, plan, [], NOON + 10 * M)

    assert result == HeartbeatResult(
        Status.DOWN, NOON + 10 * M, "too long: it started and did not end within 10 m"
    )
    assert due == NOON + H + M
    assert take(beat, GOOD, plan, NOON + 20 * M)[1].status is Status.UP


def test_a_run_that_ended_too_late_is_too_long() -> None:
    plan = replace(HOURLY, max_run=10 * M)
    beat, _ = take(FRESH, STARTED, plan, NOON)

    assert take(beat, GOOD, plan, NOON + 10 * M)[1].status is Status.UP
    assert take(beat, GOOD, plan, NOON + 11 * M)[1].error == "too long: it ran for more than 10 m"


def test_pings_that_come_too_soon_after_another_are_too_often() -> None:
    plan = replace(HOURLY, min_interval=10 * M)
    beat, first = take(FRESH, GOOD, plan, NOON + S)
    _, second = take(beat, GOOD, plan, NOON + 5 * M)

    assert first.status is Status.UP
    assert second.error == "too often: less than 10 m after the ping before"


def test_a_job_of_cron_is_late_a_grace_after_its_time() -> None:
    plan = PingSchedule(wait=None, cron="0 3 * * *", zone="Europe/Berlin", grace=5 * M)
    beat, _ = take(FRESH, GOOD, plan, NOON)

    assert awaited(beat, plan) == NOON + 14 * H + 5 * M
    result = late(beat, plan, NOON + 15 * H)
    assert result is not None
    assert result.error == "missed: no ping came at its time (0 3 * * *), nor in the 5 m after"


def test_so_many_runs_are_followed_and_the_oldest_goes_first() -> None:
    beat = FRESH
    for number in range(MOST_RUNS + 5):
        beat, _ = take(beat, Ping(PingSignal.STARTED, rid=str(number)), HOURLY, NOON + number * S)

    assert len(beat.runs) == MOST_RUNS
    assert "4" not in beat.runs
    assert "5" in beat.runs


NIGHTLY = PingSchedule(wait=None, cron="0 3 * * *", zone="UTC", grace=M)
THREE = datetime(2026, 11, 22, 3, tzinfo=UTC)


@pytest.mark.parametrize("early", [S, 2 * S, M])
def test_a_job_whose_host_is_a_little_ahead_is_not_called_late(early: timedelta) -> None:
    beat = FRESH
    for day in range(3):
        at = THREE + day * 24 * H
        beat, result = take(beat, GOOD, NIGHTLY, at - early)
        assert result.status is Status.UP
        assert awaited(beat, NIGHTLY) == at + 24 * H + M
        assert late(beat, NIGHTLY, at + 2 * M) is None


def test_a_ping_that_comes_earlier_than_the_grace_serves_no_time() -> None:
    beat, _ = take(FRESH, GOOD, NIGHTLY, THREE - M - S)
    assert awaited(beat, NIGHTLY) == THREE + M


def test_a_tenth_of_the_wait_is_the_most_that_a_ping_may_be_early() -> None:
    every_minute = PingSchedule(wait=M, cron="", zone="UTC", grace=5 * M)
    for early, base in ((6 * S, NOON + M), (7 * S, NOON + M - 7 * S)):
        beat, _ = take(FRESH, GOOD, every_minute, NOON + M - early)
        assert beat.base == base


def test_a_second_ping_before_its_time_awaits_no_third() -> None:
    beat, _ = take(FRESH, GOOD, NIGHTLY, THREE - 2 * S)
    beat, _ = take(beat, GOOD, NIGHTLY, THREE - S)
    assert awaited(beat, NIGHTLY) == THREE + 24 * H + M


def test_a_job_that_starts_a_little_early_may_take_its_time() -> None:
    plan = replace(NIGHTLY, max_run=H)
    beat, _ = take(FRESH, STARTED, plan, THREE - 2 * S)
    assert late(beat, plan, THREE + 10 * M) is None
    assert late(beat, plan, THREE + 2 * H) is not None


def test_a_time_that_a_clock_set_back_has_put_far_ahead_is_not_awaited() -> None:
    beat, _ = take(Beat(THREE + 48 * H), GOOD, NIGHTLY, NOON)
    assert awaited(beat, NIGHTLY) == THREE + M
