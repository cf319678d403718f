"""The plan ends up as the collector has it, and one bad assignment spoils no other."""

import random

import pytest

from probe.checks import LASTING
from probe.link.plan import Change, Order, Plan, ProbeAssignment, prepare
from probe.schedule import prepared
from shared.kinds import WEB3
from shared.schedule import plan_hash

TCP = b'{"host": "192.0.2.1", "port": 1}'


def order(number: int, revision: int = 1, **changes: object) -> Order:
    fields: dict[str, object] = {
        "number": number,
        "monitor": number,
        "location": 1,
        "revision": revision,
        "type": "tcp",
        "config": TCP,
        "interval_ms": 60_000,
        "timeout_ms": 10_000,
    }
    return Order(**(fields | changes))  # type: ignore[arg-type]


class Taken:
    """What a plan has handed on."""

    def __init__(self) -> None:
        self.now: dict[int, ProbeAssignment] = {}
        self.released: list[int] = []
        self.plan = Plan(self)

    def take(self, assigned: ProbeAssignment) -> None:
        self.now[assigned.number] = assigned

    def leave(self, number: int) -> None:
        del self.now[number]

    def release(self, number: int) -> None:
        self.released.append(number)


def fault_of(assigned: ProbeAssignment) -> str:
    """Why its check cannot be run; an empty text if it can."""
    try:
        prepared.make(assigned)
    except prepared.Unusable as error:
        return str(error)
    return ""


def test_a_snapshot_in_parts_replaces_what_was_there() -> None:
    taken = Taken()
    taken.plan.apply(Change(number=1, upsert=[order(1), order(2)]))
    taken.plan.apply(Change(number=1, starts_snapshot=True, upsert=[order(2), order(3)]))
    assert set(taken.now) == {1, 2, 3}
    taken.plan.apply(Change(number=2, ends_snapshot=True, upsert=[order(4)]))
    assert set(taken.now) == {2, 3, 4}
    assert taken.plan.number == 2


def test_an_empty_snapshot_leaves_nothing() -> None:
    taken = Taken()
    taken.plan.apply(Change(number=1, upsert=[order(1)]))
    taken.plan.apply(Change(number=2, starts_snapshot=True, ends_snapshot=True))
    assert taken.now == {}
    assert taken.plan.hash == 0


def test_a_snapshot_that_broke_off_is_forgotten_by_the_next() -> None:
    taken = Taken()
    taken.plan.apply(Change(number=1, upsert=[order(1), order(2)]))
    taken.plan.apply(Change(number=1, starts_snapshot=True, upsert=[order(3)]))
    taken.plan.apply(Change(number=1, starts_snapshot=True, upsert=[order(2)]))
    taken.plan.apply(Change(number=2, ends_snapshot=True))
    assert set(taken.now) == {2}


def test_in_the_middle_of_a_snapshot_no_new_plan_is_claimed() -> None:
    taken = Taken()
    taken.plan.apply(Change(number=5, starts_snapshot=True, upsert=[order(1)]))
    assert taken.plan.number == 0


def test_differences_add_change_and_remove() -> None:
    taken = Taken()
    taken.plan.apply(Change(number=1, upsert=[order(1), order(2)]))
    taken.plan.apply(Change(number=2, upsert=[order(2, revision=5)], removed=[1, 99]))
    assert {number: each.revision for number, each in taken.now.items()} == {2: 5}


def test_the_hash_is_that_of_what_is_there() -> None:
    chance = random.Random(3)
    taken = Taken()
    for number in range(1, 200):
        orders = [order(chance.randrange(20), chance.randrange(1, 5)) for _ in range(3)]
        taken.plan.apply(Change(number=number, upsert=orders, removed=[chance.randrange(20)]))
        assert taken.plan.hash == plan_hash((n, assignment.revision) for n, assignment in taken.now.items())
        assert len(taken.plan) == len(taken.now)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        pytest.param({"type": "tarot"}, "tarot", id="a type that this probe does not know"),
        pytest.param({"config": b"{"}, "configuration", id="no JSON"),
        pytest.param({"config": b"[]"}, "configuration", id="no object"),
        pytest.param({"config": b'{"host": "192.0.2.1"}'}, "configuration", id="a field is missing"),
        pytest.param({"config": b'{"password": "hunter2"}'}, "configuration", id="nothing that it needs"),
    ],
)
def test_a_bad_assignment_says_what_is_wrong_and_spoils_no_other(
    changes: dict[str, object], says: str
) -> None:
    taken = Taken()
    taken.plan.apply(Change(number=1, upsert=[order(1, 1, **changes), order(2)]))
    fault = fault_of(taken.now[1])
    assert says in fault
    assert "hunter2" not in fault
    assert fault_of(taken.now[2]) == ""


def test_secrets_of_an_assignment_are_in_no_text_of_it() -> None:
    secret = order(1, config=b'{"host": "192.0.2.1", "port": 1, "password": "hunter2"}')
    assert "hunter2" not in repr(secret)
    assert "hunter2" not in repr(prepare(secret))


def test_each_of_the_seven_web3_types_has_its_check_and_goes_on_from_the_collector_s_state() -> None:
    assert LASTING.keys() == set(WEB3)
    config = b'{"chain": 1, "rpcUrl": "http://a.example.com/", "thresholds": {"high": 5}}'
    made = prepare(order(1, type="gas_price", config=config, state=b"block 5"))
    assert (made.type, fault_of(made), made.kept.state) == ("gas_price", "", b"block 5")


def test_a_node_s_key_is_in_no_text_of_an_assignment() -> None:
    config = b'{"chain": "0", "rpcUrl": "http://a.example.com/hunter2", "thresholds": {"high": 5}}'
    bad = order(1, type="gas_price", config=config)
    assert "hunter2" not in repr(bad)
    assert fault_of(prepare(bad)) == "the probe does not understand this configuration (ValueError)"
    assert "hunter2" not in repr(prepare(order(1, type="gas_price", config=config.replace(b"0", b"base"))))


def test_absurd_figures_are_brought_within_bounds() -> None:
    bounded = prepare(order(1, interval_ms=0, timeout_ms=2**32 - 1, turns=0, failure_threshold=0))
    assert bounded.interval_us == 100_000
    assert bounded.timeout_s == 600
    assert (bounded.turns, bounded.failure_threshold, bounded.recovery_threshold) == (1, 1, 1)
