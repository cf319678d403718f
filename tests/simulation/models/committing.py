"""A model of one probe's batches on their way through two collectors into the database.

Connections are cut, collectors die with batches in hand or go on with those of an older session, COMMITs
fail or their answers are lost. Each batch is stored once, and what is decided follows from what is stored.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from tests.simulation.models.explorer import Action, Model

_DOWN: Final = (True, False, True)  # of the result in each batch
_COLLECTORS: Final = (0, 1)
_FAULTS: Final = 3

Sent = tuple[int, int]  # a session and the number of a batch


@dataclass(frozen=True, slots=True)
class Mends:
    """*cursor_compared*: a batch is taken only if it follows the last one. *late_ack*: after the COMMIT."""

    cursor_compared: bool = True
    late_ack: bool = True


@dataclass(frozen=True, slots=True)
class Stream:
    """The probe's open stream: *next_seq* is sent next."""

    collector: int
    session: int
    next_seq: int


@dataclass(frozen=True, slots=True)
class State:
    """*stored* counts the results of each batch; *acked* is the last batch that the probe may forget."""

    sealed: int = 0
    acked: int = 0
    stream: Stream | None = None
    queues: tuple[tuple[Sent, ...], ...] = ((), ())
    acks: tuple[int, ...] = ()
    session: int = 0
    last_seq: int = 0
    stored: tuple[int, ...] = (0, 0, 0)
    down: bool = False
    events: tuple[str, ...] = ()
    faults: int = 0


def model(mends: Mends = Mends()) -> Model[State]:
    """The model with all of its mends, or without some."""
    actions = [
        Action("seal", _seal, "probe.spool.batches:Batcher.add"),
        Action("send", _send(mends), "probe.link.session:Session._next"),
        Action("ack", _ack, "probe.link.lanes:Lanes.acked"),
        Action("cut", _cut, fault=True),
    ]
    for collector in _COLLECTORS:
        commit = "collector.evaluation.ingest.probe_batches:commit"
        actions += [
            Action(f"session at {collector}", _accept(collector), "collector.probes.service.sessions:accept"),
            Action(f"commit of {collector}", _commit(collector, mends), commit),
            Action(
                f"lost answer of {collector}", _unanswered(collector, mends, commits=True), commit, fault=True
            ),
            Action(f"failed commit of {collector}", _unanswered(collector, mends, commits=False), fault=True),
            Action(f"death of {collector}", _die(collector), fault=True),
        ]
    return Model(
        start=State(),
        actions=actions,
        invariants={
            "each batch is stored once": _is_stored_once,
            "what is acknowledged is stored": lambda state: all(state.stored[: state.acked]),
            "events follow from the results": lambda state: state.events == _events(state.last_seq),
        },
        ends=lambda state: state.acked == len(_DOWN),
    )


def _is_stored_once(state: State) -> bool:
    return all(count == (seq <= state.last_seq) for seq, count in enumerate(state.stored, 1))


def _events(last_seq: int) -> tuple[str, ...]:
    """What the results up to *last_seq* must have announced."""
    announced: list[str] = []
    before = False
    for down in _DOWN[:last_seq]:
        if down != before:
            announced.append("down" if down else "up")
        before = down
    return tuple(announced)


def _seal(state: State) -> Iterator[State]:
    if state.sealed < len(_DOWN):
        yield replace(state, sealed=state.sealed + 1)


def _accept(collector: int) -> Callable[[State], Iterator[State]]:
    def outcomes(state: State) -> Iterator[State]:
        if state.stream is None:
            stream = Stream(collector, state.session + 1, state.last_seq + 1)
            yield replace(
                state, session=state.session + 1, stream=stream, acked=max(state.acked, state.last_seq)
            )

    return outcomes


def _send(mends: Mends) -> Callable[[State], Iterator[State]]:
    def outcomes(state: State) -> Iterator[State]:
        stream = state.stream
        if stream is None or stream.next_seq > state.sealed:
            return
        queues = list(state.queues)
        queues[stream.collector] += ((stream.session, stream.next_seq),)
        acks = state.acks if mends.late_ack else (*state.acks, stream.next_seq)
        stream = replace(stream, next_seq=stream.next_seq + 1)
        yield replace(state, queues=tuple(queues), stream=stream, acks=acks)

    return outcomes


def _ack(state: State) -> Iterator[State]:
    if state.acks:
        yield replace(state, acked=max(state.acked, state.acks[0]), acks=state.acks[1:])


def _without_stream(state: State) -> State:
    return replace(state, stream=None, acks=())


def _failed(state: State) -> State:
    return replace(state, faults=state.faults + 1)


def _cut(state: State) -> Iterator[State]:
    if state.stream is not None and state.faults < _FAULTS:
        yield _without_stream(_failed(state))


def _die(collector: int) -> Callable[[State], Iterator[State]]:
    def outcomes(state: State) -> Iterator[State]:
        here = state.stream is not None and state.stream.collector == collector
        if state.faults < _FAULTS and (here or state.queues[collector]):
            after = _with_queue(_failed(state), collector, ())
            yield _without_stream(after) if here else after

    return outcomes


def _with_queue(state: State, collector: int, queue: tuple[Sent, ...]) -> State:
    queues = list(state.queues)
    queues[collector] = queue
    return replace(state, queues=tuple(queues))


def _groups(queue: tuple[Sent, ...]) -> Iterator[int]:
    """The lengths that a group of one session may have at the head of the queue."""
    for length in range(1, len(queue) + 1):
        if queue[length - 1][0] == queue[0][0]:
            yield length
        else:
            return


def _commit(collector: int, mends: Mends) -> Callable[[State], Iterator[State]]:
    def outcomes(state: State) -> Iterator[State]:
        queue = state.queues[collector]
        for length in _groups(queue):
            after = _with_queue(state, collector, queue[length:])
            session, seq = queue[length - 1]
            mine = state.stream is not None and state.stream.session == session
            if (written := _written(after, queue[:length], mends)) is not None:
                yield replace(written, acks=(*written.acks, seq)) if mine and mends.late_ack else written
            elif mine:
                # It is fenced off or out of order: the stream ends.
                yield _without_stream(after)
            else:
                yield after

    return outcomes


def _unanswered(collector: int, mends: Mends, *, commits: bool) -> Callable[[State], Iterator[State]]:
    """The COMMIT takes effect or not, and the collector ends the session, since it cannot know."""

    def outcomes(state: State) -> Iterator[State]:
        queue = state.queues[collector]
        if not queue or state.faults >= _FAULTS:
            return
        for length in _groups(queue):
            after = _failed(_with_queue(state, collector, queue[length:]))
            if state.stream is not None and state.stream.session == queue[0][0]:
                after = _without_stream(after)
            written = _written(after, queue[:length], mends) if commits else after
            yield after if written is None else written

    return outcomes


def _written(state: State, group: tuple[Sent, ...], mends: Mends) -> State | None:
    """The state after the transaction; None if its cursor did not move."""
    session, first = group[0]
    if session != state.session or (mends.cursor_compared and state.last_seq != first - 1):
        return None
    stored, events, down = list(state.stored), list(state.events), state.down
    for _, seq in group:
        stored[seq - 1] += 1
        if _DOWN[seq - 1] != down:
            down = not down
            events.append("down" if down else "up")
    return replace(state, last_seq=group[-1][1], stored=tuple(stored), events=tuple(events), down=down)
