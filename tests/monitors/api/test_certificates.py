"""What a certificate has left, as one reads it of its monitor."""

from datetime import timedelta
from typing import Any

import pytest

from shared.clock import EPOCH, iso, utc_now
from shared.kinds.tls import Expiry
from shared.phases import pack
from shared.results import Phases
from tests.http.client import Api
from tests.monitors.monitors import change, make, number, result, shown

pytestmark = pytest.mark.shares_server

TLS = {"type": "tls", "config": {"domain": "example.com"}}
ENDS = int((utc_now() + timedelta(days=9, hours=12)).timestamp())


async def keeping(api: Api, checkpoint: bytes | None, **fields: Any) -> str:
    """The id of a monitor whose only location keeps *checkpoint*."""
    id_ = await make(api, **fields)
    await change(api, "states", "monitor", await number(api, id_), checkpoint=checkpoint)
    return id_


async def at_its_location(api: Api, id_: str) -> list[dict[str, Any]]:
    explained = await api.get(f"/v1/monitors/{id_}/explain")
    assert explained.status == 200, explained.body
    [of_monitor], [of_explanation] = (await shown(api, id_))["locationStates"], explained.json["locations"]
    return [of_monitor, of_explanation]


@pytest.mark.parametrize("only_near", [True, False])
async def test_the_days_that_are_left_are_shown(api: Api, *, only_near: bool) -> None:
    id_ = await keeping(api, Expiry(only_near, ENDS).pack(), **TLS)
    seen = {"endsAt": iso(EPOCH + timedelta(seconds=ENDS)), "daysLeft": 9}
    assert [item["certificate"] for item in await at_its_location(api, id_)] == [seen, seen]


async def test_one_that_is_over_has_less_than_none_left(api: Api) -> None:
    id_ = await keeping(api, Expiry(only_near=False, ends=ENDS - 12 * 86_400).pack(), **TLS)
    assert {item["certificate"]["daysLeft"] for item in await at_its_location(api, id_)} == {-3}


@pytest.mark.parametrize("checkpoint", [None, b"", b"123", b"\x01" + b"\x7f" * 8, b"\x00" + b"\xff" * 8])
async def test_none_that_was_seen_is_none(api: Api, checkpoint: bytes | None) -> None:
    of_monitor, of_explanation = await at_its_location(api, await keeping(api, checkpoint, **TLS))
    assert (of_monitor.get("certificate"), of_explanation.get("certificate")) == (None, None)


async def test_one_of_an_https_monitor_is_shown_as_well(api: Api) -> None:
    id_ = await keeping(api, Expiry(only_near=False, ends=ENDS).pack())
    assert {item["certificate"]["daysLeft"] for item in await at_its_location(api, id_)} == {9}


async def test_other_types_keep_other_things(api: Api) -> None:
    dns = {"type": "dns", "config": {"host": "www.example.com"}}
    for item in await at_its_location(
        api, await keeping(api, Expiry(only_near=False, ends=ENDS).pack(), **dns)
    ):
        assert "certificate" not in item


async def test_each_result_shows_the_days_that_were_left_when_it_was_measured(api: Api) -> None:
    id_ = await make(api, **TLS)
    monitor, now = await number(api, id_), utc_now()
    for ago, days in ((1, 9), (2, 0), (3, -3), (4, None)):
        packed = pack(Phases(tls_us=300), days)
        await result(api, monitor, now - timedelta(minutes=ago), phases=packed)

    shown_results = (await api.get(f"/v1/monitors/{id_}/results")).json["data"]

    assert [one.get("daysLeft", "none") for one in shown_results] == [9, 0, -3, "none"]
    assert {one["phases"]["tls"] for one in shown_results} == {0.3}
