"""A model of assignments and drains: two checks, two probes of one location, one collector.

Both probes are connected and prompt: whatever is sent or asked for arrives before a request is two ticks old,
which is the patience of the job. So no check is ever taken by force, and no two probes run the same check.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from tests.simulation.models.explorer import Action, Model

MONITORS: Final = (0, 1)
PROBES: Final = (0, 1)
_PATIENCE: Final = 2
_TICKS: Final = 2

Numbered = tuple[int, int]  # a monitor and the number of its assignment


@dataclass(frozen=True, slots=True)
class Mends:
    """*deadline_each*: each request for a release has a deadline of its own, and not the first of them all.

    *careful_snapshot*: no comparison during a hand-over, and a snapshot repeats the requests for releases.
    """

    deadline_each: bool = True
    careful_snapshot: bool = True


@dataclass(frozen=True, slots=True)
class SentPlan:
    """A message to the probe: a whole plan, or differences."""

    snapshot: bool
    upsert: frozenset[Numbered]
    removed: frozenset[int]
    release: frozenset[int]


@dataclass(frozen=True, slots=True)
class Link:
    """One probe, its session and what is under way between them; checks are named by assignment numbers."""

    sent: frozenset[Numbered] = frozenset()
    changed: frozenset[int] = frozenset()
    to_release: frozenset[int] = frozenset()
    asked: frozenset[int] = frozenset()
    released: frozenset[int] = frozenset()
    down: tuple[SentPlan, ...] = ()
    up: tuple[int, ...] = ()
    handing: tuple[int, ...] = ()
    running: frozenset[Numbered] = frozenset()
    resting: frozenset[Numbered] = frozenset()
    letting_go: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class State:
    """*table*: probe and number of each monitor's assignment; *asked_at* is kept by (monitor, holder).

    *requested_at*: when the release of an assignment number was really requested, for the invariant alone.
    """

    table: tuple[Numbered, ...]
    links: tuple[Link, ...]
    next_number: int
    draining: bool = False
    orders: int = 0  # drains and undrains so far
    clock: int = 0
    seen: bool = False
    asked_at: frozenset[tuple[tuple[int, int], int]] = frozenset()
    requested_at: frozenset[tuple[int, int]] = frozenset()
    forced: frozenset[int] = frozenset()


def model(mends: Mends = Mends()) -> Model[State]:
    """The model with all of its mends, or without some."""
    actions = [
        Action("time passes", _tick),
        Action("drain", _drain, "collector.probes.service.probes:drain"),
        Action("undrain", _undrain, "collector.probes.service.probes:drain"),
        Action("rebalance", _rebalance(mends), "collector.probes.jobs.probes:Probes.turn"),
    ]
    for probe in PROBES:
        actions += [
            Action(f"{name} of {probe}", _at(probe, outcomes), code)
            for name, outcomes, code in (
                ("differences", _differences, "collector.probes.sessions.plan:SessionPlan._differences"),
                ("request", _request, "collector.probes.sessions.plan:SessionPlan._ask_to_release"),
                ("comparison", _verify(mends), "collector.probes.sessions.plan:SessionPlan._verify"),
                ("plan", _apply, "probe.link.plan:Plan.apply"),
                ("release", _let_go, "probe.schedule.scheduler:Scheduler._let_go"),
                ("receipt", _receive, "collector.probes.sessions.plan:SessionPlan.released"),
                ("hand-over", _hand_over, "collector.probes.service.assignments:hand_over"),
            )
        ]
    return Model(
        start=_START,
        actions=actions,
        invariants={
            "no check is taken by force from a prompt probe": lambda state: not state.forced,
            "no two probes run the same check": _run_once,
        },
        ends=_is_settled,
    )


def _run_once(state: State) -> bool:
    first, second = (frozenset(monitor for monitor, _ in link.running) for link in state.links)
    return not first & second


def _is_settled(state: State) -> bool:
    """Whether each check runs at the probe that the table names, with the number that the table has."""
    return all(
        link.running
        == frozenset((m, number) for m, (holder, number) in enumerate(state.table) if holder == p)
        and not link.resting
        for p, link in enumerate(state.links)
    )


def _planned(table: tuple[Numbered, ...], probe: int) -> frozenset[Numbered]:
    return frozenset((monitor, number) for monitor, (holder, number) in enumerate(table) if holder == probe)


_TABLE: Final = tuple((0, number) for number in (1, 2))
_START: Final = State(
    _TABLE,
    tuple(Link(sent=_planned(_TABLE, probe), running=_planned(_TABLE, probe)) for probe in PROBES),
    next_number=3,
)


def _tick(state: State) -> Iterator[State]:
    prompt = all(at == state.clock for _, at in state.requested_at)
    if state.clock < _TICKS and prompt:
        yield replace(state, clock=state.clock + 1)


def _drain(state: State) -> Iterator[State]:
    if not state.draining and state.orders == 0:
        yield replace(state, draining=True, orders=1)


def _undrain(state: State) -> Iterator[State]:
    if state.draining:
        yield replace(state, draining=False, orders=2)


def _should_hold(state: State) -> int:
    """The probe that should have both checks: the first, unless it is drained."""
    return 1 if state.draining else 0


def _rebalance(mends: Mends) -> Callable[[State], Iterator[State]]:
    def outcomes(state: State) -> Iterator[State]:
        asked_at = dict(state.asked_at)
        overdue = {held for held, at in asked_at.items() if state.clock - at >= _PATIENCE}
        if state.seen == state.draining and not overdue:
            return
        chosen = _should_hold(state)
        misplaced = [(monitor, held) for monitor, (held, _) in enumerate(state.table) if held != chosen]
        by_force = [each for each in misplaced if each in overdue]
        asks = [each for each in misplaced if each not in overdue]
        if mends.deadline_each:
            kept = {each: asked_at.get(each, state.clock) for each in asks}
        else:
            first = min(asked_at.values(), default=state.clock)
            kept = dict.fromkeys(misplaced, first)
            if overdue:
                by_force, asks, kept = misplaced, [], {}
            elif not misplaced:
                kept = {}
        after = replace(state, seen=state.draining, asked_at=frozenset(kept.items()))
        for monitor, _ in by_force:
            after = _moved(after, monitor, chosen, force=True)
        requests = dict(after.requested_at)
        for monitor, held in asks:
            requests.setdefault(after.table[monitor][1], after.clock)
            after = _with(after, held, to_release=after.links[held].to_release | {monitor})
        yield replace(after, requested_at=frozenset(requests.items()))

    return outcomes


def _moved(state: State, monitor: int, chosen: int, *, force: bool = False) -> State:
    holder, number = state.table[monitor]
    table = tuple(
        (chosen, state.next_number) if each == monitor else placed for each, placed in enumerate(state.table)
    )
    requests = frozenset(each for each in state.requested_at if each[0] != number)
    forced = state.forced | ({number} if force else frozenset())
    after = replace(
        state, table=table, next_number=state.next_number + 1, requested_at=requests, forced=forced
    )
    for probe in {holder, chosen}:
        after = _with(after, probe, changed=after.links[probe].changed | {monitor})
    return after


def _with(state: State, probe: int, **fields: object) -> State:
    links = list(state.links)
    links[probe] = replace(links[probe], **fields)  # type: ignore[arg-type]
    return replace(state, links=tuple(links))


def _at(probe: int, outcomes: Callable[[State, int], Iterator[State]]) -> Callable[[State], Iterator[State]]:
    return lambda state: outcomes(state, probe)


def _differences(state: State, probe: int) -> Iterator[State]:
    link = state.links[probe]
    if not link.changed:
        return
    current = frozenset(each for each in _planned(state.table, probe) if each[0] in link.changed)
    before = frozenset(each for each in link.sent if each[0] in link.changed)
    removed = frozenset(number for _, number in before - current)
    fields: dict[str, object] = {
        "changed": frozenset(),
        "sent": (link.sent - before) | current,
        "asked": link.asked - removed,
        "released": link.released - removed,
    }
    if before != current:
        message = SentPlan(snapshot=False, upsert=current - before, removed=removed, release=frozenset())
        fields["down"] = (*link.down, message)
    yield _with(state, probe, **fields)


def _request(state: State, probe: int) -> Iterator[State]:
    link = state.links[probe]
    if not link.to_release or link.changed:
        return
    numbers = frozenset(number for monitor, number in link.sent if monitor in link.to_release)
    message = SentPlan(snapshot=False, upsert=frozenset(), removed=frozenset(), release=numbers)
    down = (*link.down, message) if numbers else link.down
    yield _with(state, probe, to_release=frozenset(), asked=link.asked | numbers, down=down)


def _verify(mends: Mends) -> Callable[[State, int], Iterator[State]]:
    def outcomes(state: State, probe: int) -> Iterator[State]:
        """The session compares between two turns of its task, so a signal may be on its way."""
        link = state.links[probe]
        current = _planned(state.table, probe)
        if current == link.sent or (mends.careful_snapshot and (link.asked or link.released)):
            return
        numbers = frozenset(number for _, number in current)
        again = (link.asked | link.released) & numbers if mends.careful_snapshot else frozenset()
        message = SentPlan(snapshot=True, upsert=current, removed=frozenset(), release=again)
        asked = again if mends.careful_snapshot else link.asked
        released = frozenset() if mends.careful_snapshot else link.released
        yield _with(state, probe, sent=current, asked=asked, released=released, down=(*link.down, message))

    return outcomes


def _apply(state: State, probe: int) -> Iterator[State]:
    link = state.links[probe]
    if not link.down:
        return
    message, *rest = link.down
    # What a plan names again is planned again, even if it rests.
    named = message.upsert
    kept = named if message.snapshot else (link.running | link.resting) - _of(link, message.removed)
    running = (link.running & kept) | named
    resting = (link.resting & kept) - named
    present = frozenset(number for _, number in running | resting)
    yield _with(
        state,
        probe,
        down=tuple(rest),
        running=running,
        resting=resting,
        letting_go=(link.letting_go | message.release) & present,
    )


def _of(link: Link, numbers: frozenset[int]) -> frozenset[Numbered]:
    return frozenset(each for each in link.running | link.resting if each[1] in numbers)


def _let_go(state: State, probe: int) -> Iterator[State]:
    link = state.links[probe]
    for number in link.letting_go:
        checks = _of(link, frozenset({number}))
        yield _with(
            state,
            probe,
            letting_go=link.letting_go - {number},
            running=link.running - checks,
            resting=link.resting | checks,
            up=(*link.up, number),
        )


def _receive(state: State, probe: int) -> Iterator[State]:
    link = state.links[probe]
    if not link.up:
        return
    number, *rest = link.up
    counts = number in link.asked
    yield _with(
        state,
        probe,
        up=tuple(rest),
        asked=link.asked - {number},
        released=link.released | {number} if counts else link.released,
        handing=(*link.handing, number) if counts else link.handing,
    )


def _hand_over(state: State, probe: int) -> Iterator[State]:
    link = state.links[probe]
    if not link.handing:
        return
    number, *rest = link.handing
    after = _with(state, probe, handing=tuple(rest))
    for monitor, placed in enumerate(state.table):
        if placed == (probe, number):
            after = _moved(after, monitor, _should_hold(state))
    yield after
