"""Every event that an action stores is counted once, and its senders are woken at the commit."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client import REGISTRY

from collector.platform.committed_events import commit_hook
from tests.http.client import Api
from tests.monitors.api.test_monitor_ends import ARRIVED, DOWN, failed, happened, hook
from tests.monitors.monitors import make, rows
from tests.notifications.api.test_channels import make as make_channel
from tests.notifications.api.test_redelivery import sent


def counts() -> Counter[str]:
    """Events by their kind, as GET /metrics has them."""
    found = Counter[str]()
    for metric in REGISTRY.collect():
        for sample in metric.samples:
            if sample.name == "tocsin_events_total":
                found[sample.labels["kind"]] = int(sample.value)
    return found


async def stored(api: Api) -> Counter[str]:
    found = await rows(api, "SELECT kind, count(*) AS n FROM events GROUP BY kind")
    return Counter({row["kind"]: row["n"] for row in found})


class Woken:
    """What was counted and who was woken since it was made; *calls*: in their order."""

    def __init__(self, api: Api) -> None:
        self.calls: list[str] = []
        self._before = counts()
        api.context.db.pass_on = commit_hook(self._note("router"), self._note("sender"))

    def _note(self, who: str) -> Callable[[], None]:
        return lambda: self.calls.append(who)

    @property
    def counted(self) -> Counter[str]:
        return counts() - self._before


async def test_deeds_on_incidents_are_counted_as_they_are_stored(api: Api) -> None:
    woken = Woken(api)

    made = (await api.post("/v1/incidents", {"title": "Slow logins"})).json["id"]
    for deed, body in (("acknowledge", None), ("notes", {"text": "Looking"}), ("resolve", None)):
        assert (await api.post(f"/v1/incidents/{made}/{deed}", body)).status in {200, 201}
    assert (await api.post(f"/v1/incidents/{made}/resolve")).status == 409

    assert woken.counted == await stored(api) != Counter()
    assert woken.calls == ["router"] * 4


async def test_deeds_on_monitors_are_counted_as_they_are_stored(api: Api) -> None:
    woken = Woken(api)

    id_ = await make(api, name="gateway")
    await api.put(f"/v1/monitors/{id_}", {"name": "edge"})
    for deed in ("pause", "pause", "resume"):
        assert (await api.post(f"/v1/monitors/{id_}/{deed}")).status == 200
    await api.post("/v1/monitors/bulk", {"action": "pause", "filter": {"ids": [id_]}})
    await api.delete(f"/v1/monitors/{id_}")

    assert woken.counted == await stored(api)
    assert sum(woken.counted.values()) >= 5


async def test_what_a_page_tells_is_counted_once(api: Api) -> None:
    page = (await api.post("/v1/status-pages", {"name": "Acme"})).json["id"]
    woken = Woken(api)

    answer = await api.post(f"/v1/status-pages/{page}/incidents", {"title": "Slow", "message": "We look"})
    path = f"/v1/status-pages/{page}/incidents/{answer.json['id']}"
    await api.put(path, {"status": "resolved", "message": "It is over"})

    assert woken.counted == await stored(api)
    assert woken.calls == ["router"] * 2


@pytest.mark.parametrize("title", [pytest.param("Slow logins", id="done"), pytest.param("", id="refused")])
async def test_a_deed_that_is_asked_for_twice_under_one_key_is_counted_as_often_as_it_was_done(
    api: Api, title: str
) -> None:
    woken = Woken(api)

    for _ in range(2):
        await api.post("/v1/incidents", {"title": title}, headers={"Idempotency-Key": "once"})

    assert woken.counted == await stored(api) == Counter({"incident.created": 1} if title else {})
    assert woken.calls == ["router"] * bool(title)


async def test_the_end_that_a_deleted_monitor_owes_leaves_at_once(api: Api) -> None:
    id_ = await failed(api, down=True)
    await happened(api, id_, DOWN, await hook(api), **ARRIVED)
    before = await stored(api)
    woken = Woken(api)

    await api.delete(f"/v1/monitors/{id_}")

    assert "sender" in woken.calls
    assert woken.counted == await stored(api) - before


@pytest.mark.oldest
async def test_what_is_sent_again_leaves_at_once(api: Api) -> None:
    _, before = await sent(api, 1)
    woken = Woken(api)

    await api.post(f"/v1/deliveries/{before['id']}/redeliver")

    assert woken.calls == ["sender"]


async def test_deeds_that_tell_nobody_wake_nobody(api: Api) -> None:
    woken = Woken(api)

    made: Any = await make_channel(api)
    await api.put(f"/v1/alert-channels/{made}", {"name": "other"})
    await api.delete(f"/v1/alert-channels/{made}")

    assert (woken.calls, woken.counted) == ([], Counter())
