"""The schedule of retries, row by row."""

from datetime import timedelta

import pytest

from collector.notifications.core.retry import RetryPolicy, next_try

USUAL = RetryPolicy()
LONG = RetryPolicy(max_retries=10)
OBLIGING = RetryPolicy(max_retries=10, obliging=True)


@pytest.mark.parametrize(
    ("policy", "tries", "asked_s", "wait_s"),
    [
        pytest.param(USUAL, 1, None, 1, id="the first retry comes after 1 s"),
        pytest.param(USUAL, 2, None, 5, id="the second after 5 s"),
        pytest.param(USUAL, 3, None, 30, id="the third after 30 s"),
        pytest.param(USUAL, 4, None, None, id="three retries are all, unless more are asked for"),
        pytest.param(LONG, 4, None, 60, id="the fourth after a minute"),
        pytest.param(LONG, 5, None, 120, id="from then on the wait doubles"),
        pytest.param(LONG, 9, None, 1920, id="and doubles"),
        pytest.param(LONG, 10, None, 3600, id="up to an hour"),
        pytest.param(LONG, 11, None, None, id="ten retries are the most"),
        pytest.param(RetryPolicy(max_retries=0), 1, None, None, id="no retries where none are wanted"),
        pytest.param(RetryPolicy(max_retries=1), 2, None, None, id="one retry, then it is over"),
        pytest.param(RetryPolicy(retry=False), 1, None, None, id="retryOnFailure false means one try"),
        pytest.param(LONG, 1, 600, 1, id="the receiver's wish does not bend the first retry"),
        pytest.param(LONG, 3, 600, 30, id="nor the third"),
        pytest.param(LONG, 4, 600, 600, id="but the fourth"),
        pytest.param(LONG, 4, 1, 60, id="a wish for haste changes nothing"),
        pytest.param(LONG, 4, 86_400, 3600, id="a wish for a day is an hour"),
        pytest.param(OBLIGING, 1, 20, 20, id="where it counts at once, it bends the first retry"),
        pytest.param(OBLIGING, 1, None, 1, id="without a wish it is the usual wait"),
        pytest.param(OBLIGING, 2, 1, 5, id="and no shorter than that"),
        pytest.param(OBLIGING, 1, 86_400, 3600, id="nor longer than an hour"),
    ],
)
def test_next_try(policy: RetryPolicy, tries: int, asked_s: float | None, wait_s: float | None) -> None:
    asked = None if asked_s is None else timedelta(seconds=asked_s)
    wait = next_try(policy, tries, asked)
    assert (None if wait is None else wait.total_seconds()) == wait_s
