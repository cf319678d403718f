"""Models of work done side by side are explored whole, and find known faults whose mends are left out."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.simulation.models import committing, deciding, delivering, handover
from tests.simulation.models.explorer import Model, explore, function_of

# Some explore a quarter of a million states.
SLOW = (pytest.mark.slow, pytest.mark.timeout(600))

MODELS: dict[str, Callable[..., Model[Any]]] = {
    "committing": committing.model,
    "deciding": deciding.model,
    "delivering": delivering.model,
    "handover": handover.model,
}


@pytest.mark.parametrize(
    "name",
    [
        "deciding",
        pytest.param("committing", marks=SLOW),
        pytest.param("delivering", marks=SLOW),
        pytest.param("handover", marks=SLOW),
    ],
)
def test_no_order_of_steps_breaks_a_promise(name: str) -> None:
    model = MODELS[name]()

    explored = explore(model)

    assert explored.violation is None
    assert explored.performed == {action.name for action in model.actions}


@pytest.mark.parametrize("name", MODELS)
def test_each_action_stands_for_a_function_of_the_product(name: str) -> None:
    for action in MODELS[name]().actions:
        if action.code:
            assert callable(function_of(action)), action.name


@pytest.mark.parametrize(
    ("made", "mends", "broken"),
    [
        pytest.param(
            handover.model,
            handover.Mends(deadline_each=False),
            "no check is taken by force from a prompt probe",
            id="a drain inherits the deadline of an earlier one",
        ),
        pytest.param(
            handover.model,
            handover.Mends(careful_snapshot=False),
            "no two probes run the same check",
            id="a snapshot between a release and its hand-over",
        ),
        pytest.param(
            committing.model,
            committing.Mends(cursor_compared=False),
            "each batch is stored once",
            id="a cursor that takes any batch",
        ),
        pytest.param(
            committing.model,
            committing.Mends(late_ack=False),
            "what is acknowledged is stored",
            id="an acknowledgement before the commit",
        ),
        pytest.param(
            deciding.model,
            deciding.Mends(locked_first=False),
            "between transactions the monitor is as its locations say",
            id="states read before the monitor is locked",
        ),
        pytest.param(
            delivering.model,
            delivering.Mends(fenced=False),
            "no promise was broken by a step",
            id="a late outcome of a sender that stalled",
        ),
        pytest.param(
            delivering.model,
            delivering.Mends(in_order=False),
            "no promise was broken by a step",
            id="a newer event that does not wait",
        ),
        pytest.param(
            delivering.model,
            delivering.Mends(counted_first=False),
            f"at most {delivering.MOST_SENDS} sends of an event",
            id="attempts counted when they end",
            marks=SLOW,
        ),
    ],
)
def test_without_its_mend_a_fault_shows(made: Callable[..., Model[Any]], mends: object, broken: str) -> None:
    violation = explore(made(mends)).violation

    assert violation is not None
    assert violation.invariant == broken
    assert violation.trace
