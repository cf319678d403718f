"""A model of two deciding transactions at once: two locations of one monitor, at two collectors.

The monitor is down while both locations fail. Each transaction moves its own location's state, then locks the
monitor, then reads all states. Any transaction may be aborted, and is then made again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from tests.simulation.models.explorer import Action, Model

_FAILING: Final = (True, False, True)  # what each location finds, one after the other
_LOCATIONS: Final = (0, 1)
_ABORTS: Final = 2


@dataclass(frozen=True, slots=True)
class Mends:
    """*locked_first*: the monitor is locked before the states of its locations are read."""

    locked_first: bool = True


@dataclass(frozen=True, slots=True)
class Transaction:
    """One under way: *read* are the states that it saw, *locks* whether it has the monitor's lock."""

    read: tuple[bool, ...] | None = None
    locks: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """What is committed, and each location's transaction; *stored*: the number of results of each."""

    stored: tuple[int, ...] = (0, 0)
    failing: tuple[bool, ...] = (False, False)
    down: bool = False
    events: tuple[str, ...] = ()
    under_way: tuple[Transaction | None, ...] = (None, None)
    aborts: int = 0


def model(mends: Mends = Mends()) -> Model[State]:
    """The model with its mend, or without it."""
    actions: list[Action[State]] = []
    for location in _LOCATIONS:
        actions += [
            Action(f"move of {location}", _move(location), "collector.evaluation.storage.states:move"),
            Action(
                f"lock of {location}",
                _lock(location, mends),
                "collector.evaluation.storage.locked_monitors:lock",
            ),
            Action(
                f"read of {location}",
                _read(location, mends),
                "collector.evaluation.storage.states:of_monitors",
            ),
            Action(f"decision of {location}", _decide(location), "collector.evaluation.apply:write"),
            Action(f"abort of {location}", _abort(location), fault=True),
        ]
    return Model(
        start=State(),
        actions=actions,
        invariants={
            "between transactions the monitor is as its locations say": _is_decided,
            "down and up take turns": lambda state: (
                state.events == tuple(("down", "up")[turn % 2] for turn in range(len(state.events)))
            ),
        },
        ends=lambda state: state.stored == (len(_FAILING),) * 2,
    )


def _is_decided(state: State) -> bool:
    return any(state.under_way) or state.down == all(state.failing)


def _with(state: State, location: int, transaction: Transaction | None) -> State:
    under_way = list(state.under_way)
    under_way[location] = transaction
    return replace(state, under_way=tuple(under_way))


def _move(location: int) -> Callable[[State], Iterator[State]]:
    def outcomes(state: State) -> Iterator[State]:
        if state.under_way[location] is None and state.stored[location] < len(_FAILING):
            yield _with(state, location, Transaction())

    return outcomes


def _lock(location: int, mends: Mends) -> Callable[[State], Iterator[State]]:
    def outcomes(state: State) -> Iterator[State]:
        mine, other = state.under_way[location], state.under_way[1 - location]
        ready = mine is not None and not mine.locks and (mends.locked_first or mine.read is not None)
        if mine is not None and ready and not (other is not None and other.locks):
            yield _with(state, location, replace(mine, locks=True))

    return outcomes


def _read(location: int, mends: Mends) -> Callable[[State], Iterator[State]]:
    """It sees what is committed, and its own change."""

    def outcomes(state: State) -> Iterator[State]:
        mine = state.under_way[location]
        if mine is not None and mine.read is None and (mine.locks or not mends.locked_first):
            yield _with(state, location, replace(mine, read=_moved(state, location)))

    return outcomes


def _moved(state: State, location: int) -> tuple[bool, ...]:
    failing = list(state.failing)
    failing[location] = _FAILING[state.stored[location]]
    return tuple(failing)


def _decide(location: int) -> Callable[[State], Iterator[State]]:
    """It writes what follows, and commits."""

    def outcomes(state: State) -> Iterator[State]:
        mine = state.under_way[location]
        if mine is None or mine.read is None or not mine.locks:
            return
        stored = list(state.stored)
        stored[location] += 1
        down = all(mine.read)
        events = state.events if down == state.down else (*state.events, "down" if down else "up")
        after = replace(
            state, stored=tuple(stored), failing=_moved(state, location), down=down, events=events
        )
        yield _with(after, location, None)

    return outcomes


def _abort(location: int) -> Callable[[State], Iterator[State]]:
    def outcomes(state: State) -> Iterator[State]:
        if state.under_way[location] is not None and state.aborts < _ABORTS:
            yield replace(_with(state, location, None), aborts=state.aborts + 1)

    return outcomes
