"""The end of a certificate goes along with a result when it is news, and then now and then."""

from dataclasses import replace

from probe.link.plan import Order, prepare
from probe.schedule.certificate_ends import CertificateEnds
from probe.schedule.runner import CheckRun
from shared.kinds.tls import Expiry
from shared.results import Outcome, Status

HTTPS = prepare(
    Order(
        number=1,
        monitor=7,
        location=1,
        revision=1,
        type="http",
        config=b'{"url": "https://x.example.com/"}',
        interval_ms=1000,
        timeout_ms=1000,
    )
)
SEEN = CheckRun(Outcome(Status.UP, 200, ends=1_900_000_000.7), 0, 1_000)
STATE = Expiry(only_near=False, ends=1_900_000_000).pack()


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_it_is_told_once_and_again_when_it_changes() -> None:
    ends = CertificateEnds()
    other = replace(SEEN, outcome=replace(SEEN.outcome, ends=1_900_000_001.0))
    states = [ends.with_news(HTTPS, ran).outcome.state for ran in (SEEN, SEEN, other, other, SEEN)]
    assert states == [STATE, None, Expiry(only_near=False, ends=1_900_000_001).pack(), None, STATE]


def test_it_is_told_again_after_a_while_and_under_another_revision_or_assignment() -> None:
    clock = Clock()
    ends = CertificateEnds(clock)
    assert ends.with_news(HTTPS, SEEN).outcome.state == STATE
    assert ends.with_news(replace(HTTPS, revision=2), SEEN).outcome.state == STATE
    assert ends.with_news(replace(HTTPS, number=2), SEEN).outcome.state == STATE
    clock.now += 599
    assert ends.with_news(replace(HTTPS, number=2), SEEN) is SEEN
    clock.now += 1
    assert ends.with_news(replace(HTTPS, number=2), SEEN).outcome.state == STATE
    ends.forget(2)
    assert ends.with_news(replace(HTTPS, number=2), SEEN).outcome.state == STATE


def test_what_has_none_or_a_state_of_its_own_stays_as_it_is() -> None:
    ends = CertificateEnds()
    for outcome in (Outcome(Status.UP), Outcome(Status.DOWN, state=b"own", ends=1.0)):
        ran = CheckRun(outcome, 0, 1)
        assert ends.with_news(HTTPS, ran) is ran
