"""The answer to whoever waits for a check: what it found goes along, within what a message may hold."""

import time

import pytest

from probe.link.messages import answer
from probe.schedule.runner import CheckRun
from shared.findings import MAX_BYTES, MAX_FINDINGS, Finding, Findings
from shared.phases import days_left
from shared.results import Outcome, Phases, Status
from shared.wire.convert import decode_findings

pytestmark = pytest.mark.races

GAS = Finding(Findings.RAISED, "high_gas", b'{"current":"52"}')


def test_what_a_check_found_goes_along() -> None:
    said = answer(7, CheckRun(Outcome(Status.UP, found=[GAS]), 0, 1_000))

    assert (said.id, said.outcome, said.duration_us) == (7, Status.UP, 1_000)
    assert list(decode_findings(said.found)) == [GAS]


def test_what_found_nothing_says_nothing_of_it() -> None:
    assert not answer(7, CheckRun(Outcome(Status.UP), 0, 1_000)).HasField("found")


def test_more_than_a_message_may_hold_is_left_out() -> None:
    for findings in ([GAS] * (MAX_FINDINGS + 1), [Finding(Findings.LOG, "0x1:1", b" " * (MAX_BYTES + 1))]):
        said = answer(7, CheckRun(Outcome(Status.UP, found=findings), 0, 1_000))
        assert (said.outcome, said.HasField("found")) == (Status.UP, False)


def test_the_days_that_a_certificate_has_left_go_along() -> None:
    outcome = Outcome(Status.DOWN, phases=Phases(tls_us=300), ends=time.time() + 9.5 * 86_400)

    assert days_left(answer(7, CheckRun(outcome, 0, 1_000)).phases) == 9
