"""When an alert is notified, repeated and escalated."""

from dataclasses import replace
from datetime import timedelta

import pytest

from collector.alerts.core.escalation import LOOK, AlertAction, EscalationPolicy, EscalationProgress, step
from collector.evaluation.core.holds import AllowedEffects, Hold, Reminders, allowed
from shared.clock import EPOCH

MINUTE = timedelta(minutes=1)
POLICY = EscalationPolicy(repeat=4 * MINUTE, delay=10 * MINUTE, steps=2)
STEPS = replace(POLICY, repeat=None)
FREE = allowed(())
HELD = allowed([Hold.SILENCED])
TOLD = EscalationProgress(EPOCH, EPOCH)


def at(
    minutes: int, progress: EscalationProgress, policy: EscalationPolicy = STEPS, free: AllowedEffects = FREE
) -> tuple[AlertAction, int | None]:
    """What is done so many minutes after the epoch, and when it is looked at next."""
    now = EPOCH + minutes * MINUTE
    next_step = step(policy, progress, free, acknowledged=False, opened_at=None, now=now)
    return next_step.action, None if next_step.due_at is None else round((next_step.due_at - EPOCH) / MINUTE)


@pytest.mark.parametrize(
    ("minutes", "progress", "policy", "expected"),
    [
        pytest.param(0, EscalationProgress(), STEPS, (AlertAction.NOTIFY, 10), id="it is told at once"),
        pytest.param(
            0,
            EscalationProgress(),
            EscalationPolicy(),
            (AlertAction.NOTIFY, None),
            id="and never again without a policy",
        ),
        pytest.param(9, TOLD, STEPS, (AlertAction.NOTHING, 10), id="the first step is not due yet"),
        pytest.param(10, TOLD, STEPS, (AlertAction.ESCALATE, 20), id="the first step"),
        pytest.param(
            20, replace(TOLD, escalations=1), STEPS, (AlertAction.ESCALATE, None), id="the last step"
        ),
        pytest.param(
            99, replace(TOLD, escalations=2), STEPS, (AlertAction.NOTHING, None), id="no step after it"
        ),
        pytest.param(
            25, TOLD, STEPS, (AlertAction.ESCALATE, None), id="of steps that fell due only the last"
        ),
        pytest.param(4, TOLD, POLICY, (AlertAction.REMIND, 8), id="a reminder"),
        pytest.param(
            8, replace(TOLD, reminded_at=EPOCH + 4 * MINUTE), POLICY, (AlertAction.REMIND, 10), id="again"
        ),
    ],
)
def test_step(
    minutes: int,
    progress: EscalationProgress,
    policy: EscalationPolicy,
    expected: tuple[AlertAction, int | None],
) -> None:
    assert at(minutes, progress, policy) == expected


def test_what_is_held_is_looked_at_again() -> None:
    held = step(STEPS, EscalationProgress(), HELD, acknowledged=False, opened_at=None, now=EPOCH)
    late = step(STEPS, TOLD, HELD, acknowledged=False, opened_at=None, now=EPOCH + 12 * MINUTE)

    assert (held.action, held.progress, held.due_at) == (
        AlertAction.NOTHING,
        EscalationProgress(),
        EPOCH + LOOK,
    )
    assert (late.action, late.due_at) == (AlertAction.NOTHING, EPOCH + 12 * MINUTE + LOOK)


@pytest.mark.parametrize("reminders", [Reminders.STOP, Reminders.AFRESH])
def test_what_stopped_waits_for_what_happens(reminders: Reminders) -> None:
    assert at(99, TOLD, POLICY, replace(FREE, reminders=reminders)) == (AlertAction.NOTHING, None)


def test_nothing_follows_an_acknowledgement() -> None:
    for progress in (EscalationProgress(), TOLD):
        next_step = step(POLICY, progress, FREE, acknowledged=True, opened_at=None, now=EPOCH + 99 * MINUTE)
        assert (next_step.action, next_step.progress, next_step.due_at) == (
            AlertAction.NOTHING,
            progress,
            None,
        )


def test_a_reopening_is_told_and_starts_afresh() -> None:
    now = EPOCH + 60 * MINUTE
    next_step = step(
        STEPS, replace(TOLD, escalations=2), FREE, acknowledged=False, opened_at=EPOCH + 50 * MINUTE, now=now
    )

    assert (next_step.action, next_step.progress, next_step.due_at) == (
        AlertAction.NOTIFY,
        EscalationProgress(now, now),
        now + 10 * MINUTE,
    )
