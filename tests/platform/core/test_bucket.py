"""Token buckets: what a share admits by itself, when it asks, and what callers get to know."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.platform.bucket import PLANS, Share, TeamPlan, plans

SMALL = TeamPlan(per_minute=60, burst=100)  # credit 2, at most 5 in a share


class Bucket:
    """The bucket itself, as platform/storage/limits.py stores it, with a clock of its own."""

    def __init__(self, plan: TeamPlan) -> None:
        self.plan = plan
        self.level = float(plan.burst)
        self.at = 0.0
        self.asked = 0

    def exchange(self, share: Share, now: float, *, settle: bool = False) -> None:
        ask = share.settle(now) if settle else share.ask(now)
        if ask is None:
            return
        self.asked += 1
        plan = self.plan
        level = min(plan.burst, self.level + (now - self.at) * plan.per_second) + ask.back - ask.debt
        level = min(plan.burst, level)
        floor = max(1, level / 4, min(plan.per_second / 4, plan.most))
        granted = int(max(0, min(ask.want, level, floor)))
        self.level, self.at = level - granted, now
        share.granted(self.level, granted, now)


def spend(share: Share, bucket: Bucket, now: float) -> bool:
    while (admitted := share.take(now)) is None:
        bucket.exchange(share, now)
    return admitted


def test_the_plans_are_those_of_the_interface() -> None:
    assert {name: (plan.per_minute, plan.burst) for name, plan in PLANS.items() if name != "enterprise"} == {
        "free": (100, 200),
        "developer": (300, 600),
        "pro": (1000, 2000),
    }


@pytest.mark.parametrize(
    ("rate", "burst", "plan"),
    [
        (None, None, (10_000, 20_000)),
        (50, None, (50, 100)),
        (50, 7, (50, 7)),
        (None, 7, (10_000, 7)),
    ],
)
def test_enterprise_is_as_the_operator_sets_it(
    rate: int | None, burst: int | None, plan: tuple[int, int]
) -> None:
    team_plan = plans(rate, burst)["enterprise"]

    assert (team_plan.per_minute, team_plan.burst) == plan
    assert plans(rate, burst)["pro"] == PLANS["pro"]


def test_the_limits_of_enterprise_are_the_operators_and_those_of_other_plans_are_not() -> None:
    found = plans(None, None, monitors=5, mails_per_hour=None)

    assert (found["enterprise"].monitors, found["enterprise"].per_minute) == (5, 10_000)
    assert found["enterprise"].mails_per_hour == PLANS["enterprise"].mails_per_hour
    assert [found[name].monitors for name in ("free", "developer", "pro")] == [100, 1_000, 100_000]
    assert [found[name].mails_per_hour for name in ("free", "developer", "pro")] == [100, 1_000, 10_000]


@pytest.mark.parametrize("plan", [*PLANS.values(), SMALL, TeamPlan(1, 1), TeamPlan(60, 5)])
@pytest.mark.parametrize("known", [True, False])
def test_exactly_the_burst_is_let_through_at_once(plan: TeamPlan, known: bool) -> None:
    share, bucket = Share(plan, 0, known=known), Bucket(plan)

    admitted = [spend(share, bucket, 0) for _ in range(plan.burst + 50)]

    assert admitted == [True] * plan.burst + [False] * 50


def test_what_remains_falls_by_one_with_each_request_and_is_full_again_in_time() -> None:
    share, bucket = Share(SMALL, 0, known=False), Bucket(SMALL)
    seen = []
    for _ in range(100):
        assert spend(share, bucket, 0)
        seen.append(share.standing(0, admitted=True))

    assert [standing.remaining for standing in seen] == list(range(99, -1, -1))
    assert [round(standing.full_in_s) for standing in seen] == list(range(1, 101))


def test_the_rate_is_kept_however_hard_it_is_knocked_at() -> None:
    share, bucket = Share(SMALL, 0, known=False), Bucket(SMALL)
    for _ in range(100):
        spend(share, bucket, 0)

    later = sum(spend(share, bucket, number / 100) for number in range(6000))

    assert later == pytest.approx(60, abs=1)


def test_two_shares_give_out_no_more_and_hardly_less_than_the_bucket_holds() -> None:
    for plan in PLANS.values():
        bucket = Bucket(plan)
        share, two = Share(plan, 0, known=False), Share(plan, 0, known=False)
        admitted = sum(spend(each, bucket, 0) for _ in range(plan.burst) for each in (share, two))

        assert plan.burst * 0.95 <= admitted <= plan.burst
        assert bucket.asked < plan.burst / 2


def test_a_share_that_lies_idle_gives_its_tokens_back() -> None:
    bucket = Bucket(SMALL)
    share, two = Share(SMALL, 0, known=False), Share(SMALL, 0, known=False)
    spend(share, bucket, 0)
    spend(share, bucket, 0)
    assert bucket.level < 98

    bucket.exchange(share, 1.0, settle=True)

    assert sum(spend(two, bucket, 1.0) for _ in range(200)) == 99


def test_a_bucket_that_is_well_filled_is_not_asked_for_each_request() -> None:
    plan = PLANS["pro"]
    share, bucket = Share(plan, 0, known=False), Bucket(plan)
    for second in range(60):
        for _ in range(10):
            assert spend(share, bucket, second)
        bucket.exchange(share, second + 0.9, settle=True)

    assert bucket.asked <= 70


def test_who_is_refused_is_told_when_a_token_is_there() -> None:
    share, bucket = Share(TeamPlan(6, 3), 0, known=False), Bucket(TeamPlan(6, 3))
    for _ in range(3):
        assert spend(share, bucket, 0)
    assert not spend(share, bucket, 0)

    refused = share.standing(0, admitted=False)

    assert (refused.remaining, refused.retry_after_s, round(refused.full_in_s)) == (0, 10, 30)
    assert not spend(share, bucket, 9.9)
    assert spend(share, bucket, 10.0)


def test_without_its_bucket_a_share_goes_on_by_what_it_knows() -> None:
    share, bucket = Share(SMALL, 0, known=False), Bucket(SMALL)
    assert spend(share, bucket, 0)

    def lonely(now: float) -> bool:
        while (admitted := share.take(now)) is None:
            share.ask(now)
            share.alone(now)
        return admitted

    assert sum(lonely(0) for _ in range(200)) == 99
    for _ in range(3):
        assert share.settle(0.1) is not None
        share.alone(0.1)
    assert not lonely(0.2)
    bucket.exchange(share, 0.5, settle=True)
    assert bucket.level == pytest.approx(0, abs=1)


def test_what_is_full_and_owes_nothing_may_be_forgotten() -> None:
    share, bucket = Share(SMALL, 0, known=True), Bucket(SMALL)
    assert share.forgettable(0)
    assert spend(share, bucket, 0)
    assert not share.forgettable(100)
    bucket.exchange(share, 1.5, settle=True)

    assert share.forgettable(3)


@given(
    plan=st.sampled_from([*PLANS.values(), SMALL, TeamPlan(60, 1), TeamPlan(600, 7)]),
    steps=st.lists(
        st.tuples(
            st.integers(0, 2), st.sampled_from([0.0, 0.01, 0.5, 2.0, 30.0]), st.integers(0, 40), st.booleans()
        ),
        max_size=60,
    ),
)
def test_over_any_time_no_more_is_let_through_than_burst_and_rate_allow(
    plan: TeamPlan, steps: list[tuple[int, float, int, bool]]
) -> None:
    bucket, now, admitted = Bucket(plan), 0.0, 0
    shares = [Share(plan, 0, known=False) for _ in range(3)]
    for which, wait, requests, settle in steps:
        now += wait
        admitted += sum(spend(shares[which], bucket, now) for _ in range(requests))
        if settle:
            bucket.exchange(shares[which], now, settle=True)

    slack = len(shares) * (plan.most + plan.credit)
    assert admitted <= plan.burst + now * plan.per_second + slack
