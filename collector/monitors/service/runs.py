"""A check that a caller waits for: sent to a connected probe, whichever collector holds its session."""

import asyncio
import base64
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson

from collector.monitors.service import fields, reads
from collector.monitors.service.columns import kind_name
from collector.monitors.service.fields import MonitorRequest
from collector.platform import signals
from collector.platform.monitor import Trial
from collector.platform.seal import Keyring, SealScope
from collector.platform.storage.db import Db
from collector.probes.storage import probes
from shared.errors import Invalid, Unavailable
from shared.findings import Finding, Findings
from shared.held import demand_none
from shared.kinds import RECEIVING, WEB3
from shared.phases import days_left, unpack
from shared.results import Outcome, Run, Status

# For a probe to connect, and for the run and its answer to be transmitted.
PATIENCE = timedelta(seconds=5)
_LOOK_EVERY_S = 0.2


@dataclass(frozen=True, slots=True)
class TrialResult:
    """*found* is None for kinds without findings, *days_left* if no certificate was seen."""

    outcome: Outcome
    duration_us: int
    found: Sequence[Finding] | None = None
    days_left: int | None = None


async def try_out(
    db: Db,
    signals_: signals.Signals,
    keyring: Keyring,
    team_id: int,
    request: MonitorRequest[Trial],
    now: datetime,
) -> TrialResult:
    """Run the check of a request once. Raises Invalid, and what `test` raises."""
    trial, kind = request.checked()
    return await test(
        db,
        signals_,
        keyring,
        team_id=team_id,
        type_=kind_name(kind),
        config=fields.stored(kind),
        timeout_s=trial.timeout,
        locations=trial.locations or [],
        now=now,
    )


async def check_now(
    db: Db, signals_: signals.Signals, keyring: Keyring, team_id: int, id_: UUID, now: datetime
) -> TrialResult:
    """Run the check of a monitor once; the result is not stored and decides nothing.

    Raises NotFound, Invalid for a monitor that reports by itself, and what `test` raises.
    """
    found = await reads.one(db, keyring, team_id, id_, secrets=True, now=now)
    monitor = found.monitor
    if monitor.type in RECEIVING:
        raise Invalid({"type": f"a monitor of type {monitor.type} is not checked: it reports by itself"})
    return await test(
        db,
        signals_,
        keyring,
        team_id=team_id,
        type_=monitor.type,
        config=found.config,
        timeout_s=monitor.timeout_s,
        locations=monitor.locations,
        now=now,
    )


async def test(
    db: Db,
    signals_: signals.Signals,
    keyring: Keyring,
    *,
    team_id: int,
    type_: str,
    config: Mapping[str, Any],
    timeout_s: int,
    locations: Sequence[str],
    now: datetime,
) -> TrialResult:
    """Run a check with *config* once, at the first of *locations* that has a probe, else anywhere.

    Raises Unavailable if no probe is connected within 5 s, or none answers.
    """
    demand_none("waiting for a probe")
    session = await _session(db, team_id, type_, locations, now)
    run = secrets.randbits(63)
    payload = {
        "session": session,
        "id": run,
        "run": Run.TEST,
        "withinMs": timeout_s * 1000,
        "teamId": team_id,
        "type": type_,
        "sealed": base64.b64encode(keyring.seal(orjson.dumps(config), place(team_id, run))).decode(),
    }
    patience = timedelta(seconds=timeout_s) + PATIENCE
    answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    async def hear(said: dict[str, Any]) -> None:
        if said["id"] == run and not answer.done():
            answer.set_result(said)

    deaf = signals_.subscribe("answer", hear)
    try:
        async with db.transaction() as tx:
            await signals.send(tx, "run", payload, PATIENCE + patience)
        signals_.ring()
        return _tested(type_, await asyncio.wait_for(answer, patience.total_seconds()))
    except TimeoutError:
        raise Unavailable("the probe did not answer", retry_after=5) from None
    finally:
        deaf()


def place(team_id: int, run: int) -> SealScope:
    """Return the scope of a test's configuration, sealed while it is transmitted."""
    return SealScope(team_id, "signals", str(run), "payload")


async def _session(db: Db, team_id: int, type_: str, locations: Sequence[str], now: datetime) -> int:
    """Wait for a session that can run this check."""
    start = time.monotonic()
    while True:
        waited = timedelta(seconds=time.monotonic() - start)
        async with db.connection() as tx:
            session = await probes.connected(tx, team_id, type_, locations, now + waited)
        if session is not None:
            return session
        if waited >= PATIENCE:
            raise Unavailable("no probe is connected that could run this", retry_after=5)
        await asyncio.sleep(_LOOK_EVERY_S)


def _tested(type_: str, said: dict[str, Any]) -> TrialResult:
    phases = bytes.fromhex(said["phases"])
    outcome = Outcome(Status(said["status"]), said["code"], said["error"], unpack(phases))
    findings = [Finding(Findings(kind), key, data.encode()) for kind, key, data in said.get("found", ())]
    return TrialResult(outcome, said["durationUs"], findings if type_ in WEB3 else None, days_left(phases))
