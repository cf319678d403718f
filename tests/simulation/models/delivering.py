"""A model of the delivery queue: two events of one stream for one channel, and two senders.

The receiver accepts or refuses. Senders die, or stall for so long that their leases end, and then go on.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from collector.notifications.core.retry import MAX_EXPIRIES, TRIES_IN_ORDER, RetryPolicy, next_try
from collector.platform.delivery import DeliveryStatus
from tests.simulation.models.explorer import Action, Model

MOST_SENDS: Final = TRIES_IN_ORDER + MAX_EXPIRIES
_EVENTS: Final = (0, 1)
_SENDERS: Final = (0, 1)
_FAULTS: Final = 3
_PENDING: Final = DeliveryStatus.PENDING


@dataclass(frozen=True, slots=True)
class Mends:
    """*fenced*: only the result of the leased attempt counts. *counted_first*: before it is made.

    *in_order*: an event waits until the older one has arrived or has used up its tries.
    """

    fenced: bool = True
    counted_first: bool = True
    in_order: bool = True


@dataclass(frozen=True, slots=True)
class Delivery:
    """A row of the queue; the receiver counted *sends*, and *accepted* up to two."""

    status: DeliveryStatus = _PENDING
    attempt: int = 0
    expiries: int = 0
    leased: bool = False
    due: bool = True
    sends: int = 0
    accepted: int = 0


@dataclass(frozen=True, slots=True)
class Flight:
    """An attempt that a sender makes; *accepted* is None until the receiver has answered."""

    event: int
    attempt: int
    accepted: bool | None = None
    stalled: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """*broken* names a promise that a step broke, which shows in no row."""

    deliveries: tuple[Delivery, ...] = (Delivery(), Delivery())
    flights: tuple[Flight | None, ...] = (None, None)
    faults: int = 0
    broken: str = ""


def model(mends: Mends = Mends()) -> Model[State]:
    """The model with all of its mends, or without some."""
    table = "collector.notifications.storage.deliveries"
    actions = [
        Action("lease ends", _end_lease, "collector.notifications.storage.senders:adopt"),
        Action("retry falls due", _fall_due, "collector.notifications.core.retry:next_try"),
    ]
    for sender in _SENDERS:
        actions += [
            Action("claim", _claim(sender, mends), f"{table}:claim"),
            Action("send", _send(sender), "collector.notifications.jobs.sender:Sender._try"),
            Action("finish", _finish(sender, mends), f"{table}:finish"),
            Action("death", _die(sender), fault=True),
            Action("stall", _stall(sender), fault=True),
        ]
    return Model(
        start=State(),
        actions=actions,
        invariants={
            "no promise was broken by a step": lambda state: not state.broken,
            f"at most {MOST_SENDS} sends of an event": lambda state: all(
                each.sends <= MOST_SENDS for each in state.deliveries
            ),
            "what counts as delivered was accepted": lambda state: all(
                each.accepted > 0 for each in state.deliveries if each.status is DeliveryStatus.DELIVERED
            ),
            "without a fault nothing arrives twice": lambda state: (
                state.faults > 0 or all(each.accepted <= 1 for each in state.deliveries)
            ),
        },
        ends=lambda state: all(each.status is not _PENDING for each in state.deliveries),
    )


def _with(state: State, event: int, delivery: Delivery) -> State:
    deliveries = list(state.deliveries)
    deliveries[event] = delivery
    return replace(state, deliveries=tuple(deliveries))


def _flying(state: State, sender: int, flight: Flight | None) -> State:
    flights = list(state.flights)
    flights[sender] = flight
    # Senders are alike: which of them does something makes no other state.
    return replace(state, flights=tuple(sorted(flights, key=_place)))


def _place(flight: Flight | None) -> tuple[int, ...]:
    if flight is None:
        return ()
    answered = -1 if flight.accepted is None else int(flight.accepted)
    return flight.event, flight.attempt, answered, int(flight.stalled)


def _blocks(older: Delivery) -> bool:
    """Whether it holds back newer events: it has tries in order left, the one under way not counted."""
    return older.status is _PENDING and older.attempt - older.expiries - older.leased < TRIES_IN_ORDER


def _claim(sender: int, mends: Mends) -> Callable[[State], Iterator[State]]:
    def outcomes(state: State) -> Iterator[State]:
        if state.flights[sender] is not None:
            return
        for event in _EVENTS:
            row = state.deliveries[event]
            waits = mends.in_order and event > 0 and _blocks(state.deliveries[0])
            if row.status is not _PENDING or not row.due or waits:
                continue
            if row.leased and row.expiries >= MAX_EXPIRIES:
                yield _with(state, event, replace(row, status=DeliveryStatus.FAILED, leased=False))
                continue
            leased = replace(
                row,
                attempt=row.attempt + mends.counted_first,
                expiries=row.expiries + row.leased,
                leased=True,
                due=False,
            )
            yield _flying(_with(state, event, leased), sender, Flight(event, leased.attempt))

    return outcomes


def _send(sender: int) -> Callable[[State], Iterator[State]]:
    def outcomes(state: State) -> Iterator[State]:
        flight = state.flights[sender]
        if flight is None or flight.accepted is not None:
            return
        row = state.deliveries[flight.event]
        overtakes = flight.event > 0 and _blocks(state.deliveries[0])
        for accepted in (True, False):
            sent = replace(row, sends=row.sends + 1, accepted=min(row.accepted + accepted, 2))
            after = _flying(_with(state, flight.event, sent), sender, replace(flight, accepted=accepted))
            yield replace(after, broken="a newer event overtook") if overtakes else after

    return outcomes


def _finish(sender: int, mends: Mends) -> Callable[[State], Iterator[State]]:
    def outcomes(state: State) -> Iterator[State]:
        flight = state.flights[sender]
        if flight is None or flight.accepted is None:
            return
        row, after = state.deliveries[flight.event], _flying(state, sender, None)
        if mends.fenced and not (row.status is _PENDING and row.leased and row.attempt == flight.attempt):
            yield after
            return
        if row.status is not _PENDING:
            after = replace(after, broken="an outcome was undone")
        attempt = row.attempt + (not mends.counted_first)
        done = replace(row, attempt=attempt, leased=False, due=False)
        if flight.accepted:
            status = DeliveryStatus.DELIVERED
        else:
            again = next_try(RetryPolicy(), attempt - row.expiries) is not None
            status = _PENDING if again else DeliveryStatus.FAILED
        yield _with(after, flight.event, replace(done, status=status))

    return outcomes


def _fall_due(state: State) -> Iterator[State]:
    for event, row in enumerate(state.deliveries):
        if row.status is _PENDING and not row.leased and not row.due:
            yield _with(state, event, replace(row, due=True))


def _end_lease(state: State) -> Iterator[State]:
    """A lease outlasts the attempt of every sender that goes on."""
    for event, row in enumerate(state.deliveries):
        held = any(
            flight is not None
            and not flight.stalled
            and (flight.event, flight.attempt) == (event, row.attempt)
            for flight in state.flights
        )
        if row.status is _PENDING and row.leased and not row.due and not held:
            yield _with(state, event, replace(row, due=True))


def _die(sender: int) -> Callable[[State], Iterator[State]]:
    def outcomes(state: State) -> Iterator[State]:
        if state.flights[sender] is not None and state.faults < _FAULTS:
            yield replace(_flying(state, sender, None), faults=state.faults + 1)

    return outcomes


def _stall(sender: int) -> Callable[[State], Iterator[State]]:
    def outcomes(state: State) -> Iterator[State]:
        flight = state.flights[sender]
        if flight is not None and not flight.stalled and state.faults < _FAULTS:
            yield replace(_flying(state, sender, replace(flight, stalled=True)), faults=state.faults + 1)

    return outcomes
