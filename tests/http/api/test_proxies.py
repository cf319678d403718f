"""A monitor's proxy and version of HTTP: kept, read back, and the proxy's password sealed and masked."""

from typing import Any

import pytest

from tests.http.client import Api
from tests.monitors.monitors import URL, make, rows, shown

PROXY = "socks5h://robot:correct-horse@proxy.example.com:1080"
HIDDEN = PROXY.replace("correct-horse", "********")


async def test_a_proxy_s_password_is_sealed_and_shown_to_writers_alone(api: Api) -> None:
    id_ = await make(api, config={"url": URL, "proxy": PROXY, "httpVersion": "2"})

    stored = (await rows(api, "SELECT * FROM monitors"))[0]
    assert stored["config"]["proxy"] == HIDDEN
    assert b"correct-horse" not in stored["secrets"]
    assert (await shown(api, id_))["config"]["proxy"] == PROXY
    assert (await shown(await api.reader(), id_))["config"]["proxy"] == HIDDEN

    sent = {"config": {"proxy": HIDDEN.replace("1080", "1081")}}
    assert (await api.put(f"/v1/monitors/{id_}", sent)).status == 200
    config = (await shown(api, id_))["config"]
    assert (config["proxy"], config["httpVersion"]) == (PROXY.replace("1080", "1081"), "2")


@pytest.mark.parametrize(
    ("config", "bad"),
    [
        ({"httpVersion": "1.0"}, {"httpVersion": "must be one of 1.1, 2, 3"}),
        (
            {"proxy": "ftp://p"},
            {"proxy": "must be the URL of a proxy: http, https, socks5 or socks5h, a host, a port"},
        ),
        ({"url": "http://a.example.com/", "httpVersion": 3}, {"httpVersion": "3 needs an https URL"}),
        ({"httpVersion": "3", "proxy": "http://p"}, {"proxy": "cannot be used with HTTP/3"}),
    ],
)
async def test_a_way_that_cannot_be_gone_is_refused(
    api: Api, config: dict[str, Any], bad: dict[str, str]
) -> None:
    answer = await api.post(
        "/v1/monitors", {"name": "shop", "type": "http", "config": {"url": URL, **config}}
    )

    assert (answer.status, answer.json["details"]) == (400, bad)


async def test_a_version_may_be_sent_as_a_number_and_a_proxy_be_taken_away(api: Api) -> None:
    id_ = await make(api, config={"url": URL, "proxy": PROXY, "httpVersion": 2})

    assert (await shown(api, id_))["config"]["httpVersion"] == "2"
    await api.put(f"/v1/monitors/{id_}", {"config": {"proxy": None, "httpVersion": 1.1}})
    config = (await shown(api, id_))["config"]
    assert (config["proxy"], config["httpVersion"]) == (None, "1.1")
