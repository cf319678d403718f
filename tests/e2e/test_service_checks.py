"""Certificates, names and servers through the whole product: made, checked, tested, refused and masked."""

import socket
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.product import Caller, eventually, running
from tests.probe.dialogues import plays
from tests.probe.net.dns_server import dns_server, gives, record
from tests.probe.net.zoo import issue, serving
from tests.probe.targets import over_tls, target

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def _shake(sock: socket.socket) -> None:
    sock.recv(1)


async def _results(caller: Caller, monitor: str) -> Any:
    return (await caller.got(f"/v1/monitors/{monitor}/results"))["data"]


async def test_each_is_made_checked_and_told(tmp_path: Path) -> None:
    pong = plays((b"AUTH", b"+OK\r\n"), (b"PING", b"+PONG\r\n"))
    with (
        dns_server(gives(record("A", bytes([192, 0, 2, 1])))) as names,
        target(pong) as redis,
        target(over_tls(serving(issue("x")), _shake)) as secure,
    ):
        asked: list[tuple[str, dict[str, Any], str | None]] = [
            ("dns", {"host": "www.example.com", "resolver": names.address}, None),
            ("redis", {"host": "127.0.0.1", "port": redis.port, "password": "correct horse"}, None),
            ("tls", {"domain": secure.peer}, "tls: self-signed certificate (59 days left)"),
        ]
        async with running(tmp_path) as (_, caller):
            for type_, config, error in asked:
                wanted = {"name": type_, "type": type_, "interval": 60, "config": config}
                made = await caller.made("/v1/monitors", wanted)
                monitor = made["id"]
                first = (await eventually(lambda monitor=monitor: _results(caller, monitor)))[-1]
                assert (first["status"], first["error"]) == ("down" if error else "up", error)
                status, tested = await caller.call("POST", "/v1/monitors/test", wanted)
                assert (status, tested["success"]) == (200, error is None)

            bad = {"name": "x", "type": "dns", "config": {"host": "192.0.2.1", "rcode": "what"}}
            status, refused = await caller.call("POST", "/v1/monitors", bad)
            assert (status, set(refused["details"])) == (400, {"host", "rcode"})
