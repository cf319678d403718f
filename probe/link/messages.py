"""Converts messages of the probe link to the probe's own values and back."""

import time

from probe.link.plan import Change, Order
from probe.schedule.certificate_ends import days_left
from probe.schedule.runner import CheckRun
from probe.spool.batches import clean
from shared.findings import bounded
from shared.phases import pack
from shared.wire.convert import encode_findings
from shared.wire.v1 import probe_pb2


def change(plan: probe_pb2.Plan) -> Change:
    return Change(
        number=plan.number,
        upsert=[order(assignment) for assignment in plan.upsert],
        removed=list(plan.removed),
        release=list(plan.release),
        starts_snapshot=plan.starts_snapshot,
        ends_snapshot=plan.ends_snapshot,
        hash=plan.hash,
    )


def order(wire: probe_pb2.Assignment) -> Order:
    return Order(
        number=wire.number,
        monitor=wire.monitor,
        location=wire.location,
        revision=wire.revision,
        type=wire.type,
        config=wire.config,
        interval_ms=wire.interval_ms,
        timeout_ms=wire.timeout_ms,
        turn=wire.turn,
        turns=wire.turns,
        failure_threshold=wire.failure_threshold,
        recovery_threshold=wire.recovery_threshold,
        fails=wire.fails,
        failing=wire.failing,
        at_once=wire.at_once,
        state=wire.state,
        stopped=wire.stopped,
        team=wire.team,
        monitor_id=wire.monitor_id,
    )


def answer(number: int, ran: CheckRun) -> probe_pb2.Answer:
    findings = ran.outcome.found
    return probe_pb2.Answer(
        id=number,
        outcome=ran.outcome.status,
        duration_us=min(max(ran.duration_us, 0), 2**32 - 1),
        code=ran.outcome.code,
        error=clean(ran.outcome.error),
        phases=pack(ran.outcome.phases, days_left(ran.outcome, time.time())),
        found=encode_findings(findings) if findings and bounded(findings) else None,
    )
