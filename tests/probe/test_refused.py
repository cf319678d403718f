"""A probe that is out, revoked or deleted connects seldom, logs what to do, and stops on request."""

import asyncio
from pathlib import Path

import grpc
import pytest
import structlog

from probe.link.session import Session
from tests.probe.peer import Holder, Peer
from tests.probe.test_session import ME, Probe, once

pytestmark = pytest.mark.races


def renewing(directory: Path, holder: Holder, collector: str) -> Probe:
    """A probe whose certificate becomes another one."""
    made = Probe(directory, holder.current, collector)
    made.task.cancel()  # before its first step
    made.session = Session(
        ME,
        [collector],
        holder,
        spool=made.spool,
        batcher=made.batcher,
        plan=made.plan,
        scheduler=made.scheduler,
        releases=made.releases,
        bell=made.bell,
    )
    made.task = asyncio.create_task(made.session.run())
    return made


OUT = [
    pytest.param(grpc.StatusCode.PERMISSION_DENIED, "this probe was revoked at noon", id="revoked"),
    pytest.param(grpc.StatusCode.UNAUTHENTICATED, "this probe is not known here", id="deleted"),
]


@pytest.mark.parametrize(("code", "why"), OUT)
async def test_it_is_told_once_what_to_do_and_stops_at_once_while_it_waits(
    tmp_path: Path, code: grpc.StatusCode, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Longer than any test waits.
    monkeypatch.setattr("probe.link.pace._FIRST_REFUSED_S", 1000.0)
    peer = Peer()
    peer.refusal = (code, why)
    await peer.start()
    with structlog.testing.capture_logs() as logs:
        probe = Probe(tmp_path, peer.deployment.probe(), f"127.0.0.1:{peer.port}")
        await peer.until_hellos(1)
        async with asyncio.timeout(20):
            while not logs:
                await asyncio.sleep(0.01)
        await probe.stop()
    await peer.stop()

    assert len(peer.hellos) == 1
    [mapping] = [entry for entry in logs if entry["log_level"] == "error"]
    assert mapping["reason"] == why
    assert "TOCSIN_JOIN_TOKEN" in mapping["todo"]


async def test_with_a_new_certificate_it_calls_without_waiting_any_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probe.link.pace._FIRST_REFUSED_S", 1000.0)
    monkeypatch.setattr("probe.link.session._LOOK_EVERY_S", 0.02)
    peer = Peer()
    peer.refusal = (grpc.StatusCode.UNAUTHENTICATED, "this certificate expired at noon")
    await peer.start()
    holder = Holder(peer.deployment.probe())
    probe = renewing(tmp_path, holder, f"127.0.0.1:{peer.port}")
    await peer.until_hellos(1)

    peer.refusal = None
    holder.current = peer.deployment.probe()
    probe.tell(1)

    await peer.until(lambda: once(peer, 1))
    await probe.stop()
    await peer.stop()
