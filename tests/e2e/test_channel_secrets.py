"""Seeded secrets of every type of channel are in no log, no error and no answer to who may only read."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest

from collector.notifications.channels import CHANNELS
from tests.e2e.product import Caller, Product, eventually, running
from tests.mailbox import mailbox
from tests.notifications.channels.every import SEED, config
from tests.receiver import Exchange, answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


async def echo(exchange: Exchange) -> None:
    """Refuse it, and say back all that was sent, as some services do."""
    raw = f"{exchange.request.target} {dict(exchange.request.headers)} ".encode() + exchange.request.body
    data = f'{{"message": {raw.decode()!r}}}'.encode()
    await answer(500, {"X-Echo": exchange.request.target}, data)(exchange)


# A client that hangs up while it is accepted leaves asyncio's servers a socket that nobody closes.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_no_secret_of_a_channel_gets_out(tmp_path: Path) -> None:
    async with receiving(always=echo) as service, mailbox(login=True) as box:
        smtp = box.url(user=f"alerts:{quote(SEED)}-smtp@")
        async with running(tmp_path, LOG_LEVEL="debug", SMTP_URL=smtp) as (product, admin):
            made = {type_: await _channel(admin, type_, service.url("")) for type_ in CHANNELS}
            await admin.made("/v1/alert-rules", {"name": "All", "channels": list(made.values())})
            body = {"name": "shop", "type": "http", "interval": 1, "failureThreshold": 1}
            url = f"http://127.0.0.1:{product.grpc + 1}/"
            await admin.made("/v1/monitors", {**body, "config": {"url": url, "expectedStatus": 599}})
            for type_, id_ in made.items():
                tested = await admin.made(f"/v1/alert-channels/{id_}/test", {})
                assert not tested["success"], type_
                assert SEED not in str(tested), type_
            for type_, id_ in made.items():
                await eventually(lambda id_=id_: _tried(admin, id_), timeout_s=60)
                delivery = (await admin.got(f"/v1/alert-channels/{id_}/deliveries"))["data"][0]
                assert SEED not in str(delivery), type_
            await _nothing_is_read(product, admin, made)
        assert (tmp_path / "log").stat().st_size > 0
        assert SEED not in (tmp_path / "log").read_text()


async def _channel(admin: Caller, type_: str, base: str) -> str:
    asked = {"name": type_, "type": type_, "config": config(type_, base)}
    status, made = await admin.call("POST", "/v1/alert-channels", asked)
    assert status == 201, made
    id_: str = made["id"]
    # A fault in one field quotes none of the others.
    wrong = {"config": {"method": 5, "recipients": 5, "templates": 5, "urls": 5, "chatId": []}}
    status, refused = await admin.call("PUT", f"/v1/alert-channels/{id_}", wrong)
    assert (status, SEED in str(refused)) == (400, False), refused
    return id_


async def _tried(admin: Caller, id_: str) -> bool:
    found = (await admin.got(f"/v1/alert-channels/{id_}/deliveries"))["data"]
    return any(attempt["error"] for delivery in found for attempt in delivery["attempts"])


async def _nothing_is_read(product: Product, admin: Caller, made: dict[str, str]) -> None:
    asked = {"name": "reader", "permission": "read-only", "expiresIn": "never"}
    token = (await admin.made("/v1/tokens", asked))["token"]
    async with aiohttp.ClientSession() as session:
        reader = Caller(product, session, token)
        paths = [
            "/v1/alert-channels",
            "/v1/alert-rules",
            "/v1/alerts",
            "/v1/incidents",
            "/v1/monitors",
            *(f"/v1/alert-channels/{id_}" for id_ in made.values()),
            *(f"/v1/alert-channels/{id_}/deliveries" for id_ in made.values()),
            *[f"/v1/incidents/{id_}/timeline" for id_ in await _incidents(admin)],
        ]
        for path in paths:
            told: Any = await reader.got(path)
            assert SEED not in str(told), path
        for id_ in made.values():
            path = f"/v1/alert-channels/{id_}"
            for verb, asked_at in (("POST", f"{path}/test"), ("PUT", path)):
                status, refused = await reader.call(verb, asked_at, {})
                assert (status, SEED in str(refused)) == (403, False)


async def _incidents(admin: Caller) -> list[str]:
    return [item["id"] for item in (await admin.got("/v1/incidents"))["data"]]
