"""Stores the findings of Web3 checks that batches carry."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from collector.evaluation.ingest.columns import Columns, kept_by
from collector.evaluation.storage import checkpoints, states
from collector.evaluation.storage.checkpoints import CheckpointKey
from collector.platform import metrics
from collector.platform.storage.db import Tx
from collector.web3.core.findings import (
    ChainReading,
    FoundLog,
    RevertedBlocks,
    ThresholdCrossing,
    Unreadable,
    is_covered,
    line,
    read,
    same_line,
    uncovered,
)
from collector.web3.core.web3 import ChainAlert, raised, recovered
from collector.web3.storage import writes
from collector.web3.storage.writes import Key, ObservedLog, Owner, RetractedLog
from shared.clock import EPOCH
from shared.findings import Finding, Findings

# Per monitor: no kind has nearly as many thresholds.
_MOST_ALERTS: Final = 64
# Per monitor and transaction: a chain retracts blocks once in a while...
_MOST_RETRACTIONS: Final = 500
# ... and for all monitors, thresholds included, which are reported when they are crossed.
_MOST_EDGES: Final = 10_000


@dataclass(frozen=True, slots=True)
class _Result:
    """The findings of one result, whose check began *at*; *state* is its own checkpoint."""

    kept: CheckpointKey
    at: datetime
    findings: Sequence[Finding]
    state: bytes | None

    @property
    def place(self) -> tuple[int, int]:
        return self.kept.monitor, self.kept.location


@dataclass(slots=True)
class _FindingChanges:
    """The changes to write: alerts after them, logs, and retractions, in turns.

    Each turn writes logs, then retractions of a monitor's logs; *turns*: the count for each monitor so far.
    *standing*: see `checkpoints.standing`; *lines*: the current reading at each place, where
    a result comes too late for its own checkpoint to be stored.
    """

    owners: Mapping[int, Owner]
    standing: Mapping[CheckpointKey, bool]
    lines: Mapping[tuple[int, int], ChainReading | None]
    alerts: dict[Key, ChainAlert]
    changed: set[Key] = field(default_factory=set)
    logs: dict[int, list[ObservedLog]] = field(default_factory=dict)
    takes_back: dict[int, list[RetractedLog]] = field(default_factory=dict)
    turns: Counter[int] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    held: Counter[UUID] = field(default_factory=Counter)  # alerts by their monitor
    edges: int = 0

    def goes_on(self, result: _Result) -> ChainReading | None:
        """The current reading, which may find the same again, if this result comes late."""
        return None if self.standing.get(result.kept) else self.lines.get(result.place)


def monitors(columns: Columns) -> set[int]:
    """Return the monitors with findings, of any probe or team."""
    return {part.batch.monitor[i] for part in columns.parts for i in part.batch.found}


async def note(tx: Tx, columns: Columns, now: datetime) -> bool:
    """Store the findings; return whether there were any.

    Thresholds count only where their checkpoint is stored. A log counts wherever its result may be written,
    once, whichever probe saw it and however late it comes, unless the current reading began before it and
    so covers it too. Retractions count from the assigned probe, and from others as far as that reading does
    not cover them.
    """
    if not any(part.batch.found for part in columns.parts):
        return False
    results = list(_results(columns))
    standing = await checkpoints.standing(tx, sorted({one.kept for one in results}))
    results = await _permitted(tx, results, standing)
    locked = await writes.lock_monitors(tx, sorted({one.kept.monitor for one in results}))
    owners = {owner.monitor: owner for owner in locked}
    known = await writes.alerts(tx, [(owner.team_id, owner.id) for owner in locked])
    lines = await _lines(tx, [one for one in results if not standing.get(one.kept)])
    news = _FindingChanges(owners, standing, lines, known, held=Counter(id_ for _, id_, _ in known))
    for result in results:
        _take(news, result)
    await _write(tx, news, now)
    for reason, count in news.refused.items():
        metrics.findings_refused.labels(reason).inc(count)
    return bool(news.changed or news.logs or news.takes_back)


def _results(columns: Columns) -> Iterator[_Result]:
    """The results with findings, in the order in which they count."""
    start = 0
    for part in columns.parts:
        for i, findings in sorted(part.batch.found.items()):
            at = EPOCH + timedelta(milliseconds=columns.at_ms[start + i])
            yield _Result(kept_by(part, i), at, findings, part.batch.state.get(i))
        start += len(part.batch.monitor)


async def _permitted(
    tx: Tx, results: Sequence[_Result], standing: Mapping[CheckpointKey, bool]
) -> list[_Result]:
    """The results of probes that serve the monitor's team."""
    doubtful: defaultdict[UUID, set[tuple[int, int]]] = defaultdict(set)
    for result in results:
        if result.kept not in standing:
            doubtful[result.kept.probe_id].add(result.place)
    allowed = {
        probe_id: await states.may_write(tx, probe_id, places) for probe_id, places in doubtful.items()
    }
    return [
        result
        for result in results
        if result.kept in standing or result.place in allowed[result.kept.probe_id]
    ]


async def _lines(tx: Tx, late: Sequence[_Result]) -> dict[tuple[int, int], ChainReading | None]:
    """The current reading at the place of each result; the monitors are locked: none begins meanwhile."""
    if not late:
        return {}
    kept = await checkpoints.of_places(tx, sorted({result.place for result in late}))
    return {place: line(state) for place, state in kept.items() if state is not None}


def _take(news: _FindingChanges, result: _Result) -> None:
    owner = news.owners.get(result.kept.monitor)
    if owner is None:
        news.refused["monitor"] += len(result.findings)
        return
    goes_on = news.goes_on(result)
    late = None if goes_on is None else line(result.state)
    for finding in result.findings:
        news.edges += finding.found is not Findings.LOG
        if news.edges > _MOST_EDGES and finding.found is not Findings.LOG:
            news.refused["too many"] += 1
            continue
        try:
            _add(news, owner, result, read(finding), (late, goes_on))
        except Unreadable as error:
            news.refused[str(error)] += 1


def _add(
    news: _FindingChanges,
    owner: Owner,
    result: _Result,
    found: ThresholdCrossing | FoundLog | RevertedBlocks,
    lines: tuple[ChainReading | None, ChainReading | None],
) -> None:
    """*lines*: the late result's own reading, and the current one."""
    location = result.kept.location
    if isinstance(found, FoundLog):
        if is_covered(*lines, found.block):
            raise Unreadable("found again")
        seen = ObservedLog(owner, location, result.at, found, stands=same_line(*lines))
        news.logs.setdefault(news.turns[owner.monitor], []).append(seen)
    elif isinstance(found, ThresholdCrossing):
        if news.standing.get(result.kept):
            _cross(news, owner, location, found, result.at)
    else:
        counts = result.kept in news.standing or result.place not in news.lines
        gone = found if counts else uncovered(*lines, found)
        if gone is not None:
            _take_back(news, RetractedLog(owner, location, result.at, gone))


def _take_back(news: _FindingChanges, log: RetractedLog) -> None:
    turn = news.turns[log.owner.monitor]
    if turn >= _MOST_RETRACTIONS:
        raise Unreadable("too many")
    news.takes_back.setdefault(turn, []).append(log)
    news.turns[log.owner.monitor] += 1


def _cross(
    news: _FindingChanges, owner: Owner, location: int, crossing: ThresholdCrossing, at: datetime
) -> None:
    key = (owner.team_id, owner.id, crossing.key)
    before = news.alerts.get(key)
    if not crossing.raised:
        after = recovered(before, location, crossing.data)
    else:
        if before is None and news.held[owner.id] >= _MOST_ALERTS:
            raise Unreadable("too many")
        news.held[owner.id] += before is None
        after = raised(before, location, crossing.data, at)
    if after is not None and after != before:
        news.alerts[key] = after
        news.changed.add(key)


async def _write(tx: Tx, news: _FindingChanges, now: datetime) -> None:
    if news.changed:
        await writes.save_alerts(tx, {key: news.alerts[key] for key in sorted(news.changed)})
    for turn in sorted({*news.logs, *news.takes_back}):
        await _add_logs(tx, news.logs.get(turn, ()))
        if taken := news.takes_back.get(turn):
            await writes.take_back(tx, taken, now)


async def _add_logs(tx: Tx, logs: Sequence[ObservedLog]) -> None:
    """Keep each location's last log of each key, and write several of one key one after the other."""
    last = {
        (observed_log.owner.monitor, observed_log.log.key, observed_log.location): observed_log
        for observed_log in logs
    }
    rounds: defaultdict[int, list[ObservedLog]] = defaultdict(list)
    seen: Counter[tuple[int, str]] = Counter()
    for (monitor, key, _), log in last.items():
        rounds[seen[monitor, key]].append(log)
        seen[monitor, key] += 1
    for round_ in rounds.values():
        await writes.add_logs(tx, round_)
