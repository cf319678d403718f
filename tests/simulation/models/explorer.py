"""A small explorer of state spaces: every order of a model's actions, within the model's bounds."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, Generic, TypeVar

S = TypeVar("S", bound=Hashable)

_MOST_STATES: Final = 400_000


@dataclass(frozen=True, slots=True)
class Action(Generic[S]):
    """What may happen in a state: *outcomes* yields a state for each way in which it may end, or none.

    *code*: the function of the product that it stands for, as ``module:name``; empty for what the world does.
    *fault*: recovery must not depend on it.
    """

    name: str
    outcomes: Callable[[S], Iterable[S]]
    code: str = ""
    fault: bool = False


@dataclass(frozen=True, slots=True)
class Model(Generic[S]):
    """*invariants* hold in every state. From every state, *ends* is reachable without a further fault."""

    start: S
    actions: Sequence[Action[S]]
    invariants: Mapping[str, Callable[[S], bool]]
    ends: Callable[[S], bool]


@dataclass(frozen=True, slots=True)
class Violation(Generic[S]):
    """A broken invariant; *trace* is a shortest sequence of actions that leads to *state*."""

    invariant: str
    trace: tuple[str, ...]
    state: S


@dataclass(slots=True)
class Exploration(Generic[S]):
    """The number of *states* and *steps* between them that were visited, and the first violation."""

    states: int = 0
    steps: int = 0
    violation: Violation[S] | None = None
    performed: set[str] = field(default_factory=set)


def explore(model: Model[S]) -> Exploration[S]:
    """Visit every state, nearest first, until an invariant is broken. Raises RuntimeError if too many."""
    result = Exploration[S]()
    origin: dict[S, tuple[S, str] | None] = {model.start: None}
    recoveries: dict[S, list[S]] = {}
    queue = deque([model.start])
    while queue:
        state = queue.popleft()
        result.states += 1
        for name, holds in model.invariants.items():
            if not holds(state):
                result.violation = Violation(name, _trace(origin, state), state)
                return result
        for action, after in _steps(model, state):
            result.steps += 1
            result.performed.add(action.name)
            if not action.fault:
                recoveries.setdefault(after, []).append(state)
            if after not in origin:
                origin[after] = (state, action.name)
                queue.append(after)
        if len(origin) > _MOST_STATES:
            raise RuntimeError(f"the model has more than {_MOST_STATES} states")
    if stuck := _without_end(model, origin, recoveries):
        result.violation = Violation("recovers without a further fault", _trace(origin, stuck[0]), stuck[0])
    return result


def function_of(action: Action[Any]) -> Any:
    """The function that the action stands for. Raises ImportError or AttributeError if there is none."""
    module, _, path = action.code.partition(":")
    function: Any = import_module(module)
    for name in path.split("."):
        function = getattr(function, name)
    return function


def _steps(model: Model[S], state: S) -> Iterator[tuple[Action[S], S]]:
    for action in model.actions:
        for after in action.outcomes(state):
            yield action, after


def _without_end(model: Model[S], states: Iterable[S], recoveries: Mapping[S, Sequence[S]]) -> list[S]:
    """The states from which no end is reachable by actions that are no faults, nearest first."""
    all_ = list(states)
    good = {state for state in all_ if model.ends(state)}
    queue = deque(good)
    while queue:
        for before in recoveries.get(queue.popleft(), ()):
            if before not in good:
                good.add(before)
                queue.append(before)
    return [state for state in all_ if state not in good]


def _trace(origin: Mapping[S, tuple[S, str] | None], state: S) -> tuple[str, ...]:
    names: list[str] = []
    while (step := origin[state]) is not None:
        state, name = step
        names.append(name)
    return tuple(reversed(names))
