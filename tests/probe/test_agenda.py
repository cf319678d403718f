"""Nothing on the agenda comes early, comes twice, or is forgotten, however often it is moved."""

from hypothesis import given
from hypothesis import strategies as st

from probe.link.plan import Order, prepare
from probe.schedule.agenda import DueQueue
from probe.schedule.item import Item
from probe.schedule.tally import Tally

ITEMS = 4
STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "remove", "take"]), st.integers(0, ITEMS - 1), st.integers(1, 5_000))
)


def item(number: int) -> Item:
    order = Order(
        number=number, monitor=number, location=1, revision=1, type="tcp",
        config=b'{"host": "192.0.2.1", "port": 1}', interval_ms=1000, timeout_ms=1000,
    )  # fmt: skip
    return Item(prepare(order), Tally())


@given(STEPS)
def test_each_comes_once_at_its_time_wherever_it_was_moved(steps: list[tuple[str, int, int]]) -> None:
    agenda, items = DueQueue(), [item(number) for number in range(ITEMS)]
    due: dict[Item, int] = {}
    now_us = 0
    for step, number, us in steps:
        one = items[number]
        if step == "put":
            agenda.put(one, now_us + us)
            due[one] = now_us + us
        elif step == "remove":
            agenda.remove(one)
            due.pop(one, None)
        else:
            now_us += us
            came = list(agenda.take(now_us))
            assert len(came) == len(set(came))
            assert {one for one, at in due.items() if at <= now_us - 1000} <= set(came)
            assert all(due.pop(one) <= now_us for one in came)
    assert set(agenda.take(now_us + 10_000)) == set(due)
    assert agenda.next_us is None


def test_what_is_moved_again_and_again_takes_no_more_room() -> None:
    agenda, one = DueQueue(), item(1)
    for turn in range(1, 100_000):
        agenda.put(one, turn * 10_000)
    assert len(agenda) < 2_000
