"""The log says why a probe cannot reach its collector, and is silent while both are just starting."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import structlog

from probe.link.credentials import Credentials
from tests.pki import Deployment
from tests.ports import free_port
from tests.probe.peer import Peer
from tests.probe.test_session import Probe
from tests.streams import stream_server

pytestmark = pytest.mark.races


async def first_warning(directory: Path, credentials: Credentials, collector: str) -> Any:
    with structlog.testing.capture_logs() as logs:
        probe = Probe(directory, credentials, collector)
        async with asyncio.timeout(20):
            while not any(entry["log_level"] == "warning" for entry in logs):
                await asyncio.sleep(0.02)
        await probe.die()
    return next(entry for entry in logs if entry["log_level"] == "warning")


async def test_a_certificate_that_does_not_name_the_collector_says_what_to_set(tmp_path: Path) -> None:
    peer = Peer()
    peer.host = "127.0.0.2"
    await peer.start()
    said = await first_warning(tmp_path, peer.deployment.probe(), f"127.0.0.2:{peer.port}")
    await peer.stop()

    assert said["reason"] == (
        "its certificate does not name 127.0.0.2; set TOCSIN_GRPC_NAMES at the collector"
    )


async def test_a_collector_of_another_deployment_is_named_as_such(tmp_path: Path) -> None:
    peer = Peer()
    await peer.start()
    said = await first_warning(tmp_path, Deployment().probe(), f"127.0.0.1:{peer.port}")
    await peer.stop()

    assert said["reason"] == "its certificate is not of the deployment that this probe belongs to"


async def test_nobody_there_is_no_warning_while_both_may_be_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tries.append(1)
        writer.transport.abort()

    async with stream_server(hang_up) as port:
        with structlog.testing.capture_logs() as logs:
            probe = Probe(tmp_path / "first", Deployment().probe(), f"127.0.0.1:{port}")
            async with asyncio.timeout(20):
                while len(tries) < 4:
                    await asyncio.sleep(0.02)
            await probe.die()
    assert not [entry for entry in logs if entry["log_level"] != "debug"]

    monkeypatch.setattr("probe.link.session.QUIET_S", 0.5)
    said = await first_warning(tmp_path / "second", Deployment().probe(), f"127.0.0.1:{free_port()}")
    assert said["event"] == "no collector"
    assert "last error" not in said["reason"]
    assert "onnection refused" in said["reason"]
