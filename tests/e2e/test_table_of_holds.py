"""Who hears what, and when: the table of holds row by row, by the API and over real receivers alone.

All rows run side by side in one product, for reminders and escalation come after a minute at the soonest. Ten
minutes are not waited for: where a row needs them, its times in the database are moved back.
"""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.fleet import Part
from tests.e2e.holding import A_MINUTE_AND_SOME, Row, Story, row
from tests.e2e.product import Caller, Product, eventually, running

pytestmark = [pytest.mark.slow, pytest.mark.shares_setup, pytest.mark.timeout(400)]

DOWN, UP = "monitor.down", "monitor.up"
Heard = tuple[list[str], list[str], list[str]]
OPENED: Heard = (["Down"], [], [DOWN])
OVER: Heard = (["Down", "Recovered"], [], [DOWN, UP])


async def goes_down(one: Row) -> None:
    one.breaks()
    await one.hears(*OPENED)


async def a_minute_later(one: Row) -> None:
    """The chat is reminded, perhaps twice, and the alert escalates once; the state is not announced again."""
    await asyncio.sleep(A_MINUTE_AND_SOME)

    async def have() -> bool:
        return len(one.said()) > 1 and bool(one.said_to_boss())

    await eventually(have)
    assert (set(one.said()), one.said_to_boss(), one.events(DOWN, UP)) == ({"Down"}, ["Escalation 1"], [DOWN])


async def nothing_held(one: Row) -> None:
    await goes_down(one)
    await a_minute_later(one)
    one.heals()
    await one.all_hear_the_end()
    assert (one.said_to_boss(), one.events(DOWN, UP)) == (["Escalation 1", "Recovered"], [DOWN, UP])
    assert (await one.incident("resolved"))["resolvedBy"] == {"id": None, "name": "System"}


async def paused_and_good_after_it(one: Row) -> None:
    await goes_down(one)
    await one.does(f"{one.path}/pause")
    one.heals()
    await one.hears_nothing_new(A_MINUTE_AND_SOME)
    await one.incident("open")
    await one.does(f"{one.path}/resume")
    await one.hears(*OVER)
    await one.incident("resolved")


async def paused_and_bad_after_it(one: Row) -> None:
    await goes_down(one)
    before = await one.incident()
    await one.does(f"{one.path}/pause")
    await one.hears_nothing_new(5)
    await one.does(f"{one.path}/resume")
    await one.hears_nothing_new(10)
    await a_minute_later(one)
    assert (await one.incident())["id"] == before["id"]


async def silenced_before_the_outage(one: Row) -> None:
    await one.does(f"{one.path}/silence", {"duration": 600})
    one.breaks()
    await one.incident()
    await one.hears_nothing_new(A_MINUTE_AND_SOME)
    assert one.heard() == ([], [], [])
    await one.caller.call("DELETE", f"{one.path}/silence")
    await one.hears(*OPENED)
    await a_minute_later(one)


async def silenced_after_the_opening(one: Row) -> None:
    await goes_down(one)
    await one.does(f"{one.path}/silence", {"duration": 600})
    await one.hears_nothing_new(A_MINUTE_AND_SOME)
    one.heals()
    await one.hears(*OVER)


async def silenced_all_the_while(one: Row) -> None:
    await one.does(f"{one.path}/silence", {"duration": 20})
    one.breaks()
    await one.incident()
    one.heals()
    await one.incident("resolved")
    await one.hears_nothing_new(25)
    assert one.heard() == ([], [], [])


async def maintenance_before_the_outage(one: Row) -> None:
    window = await _window(one)
    one.breaks()
    await one.failing()
    await one.hears_nothing_new(10)
    assert (one.heard(), await one.incidents()) == (([], [], []), [])
    await one.does(f"/v1/maintenance-windows/{window}/end")
    await one.hears(*OPENED)
    await one.incident()


async def maintenance_after_the_opening(one: Row) -> None:
    await goes_down(one)
    await _window(one)
    await one.hears_nothing_new(A_MINUTE_AND_SOME)
    one.heals()
    await one.hears(*OVER)


async def parent_down(one: Row) -> None:
    async with row("parent", one.product, one.caller) as parent:
        await _depend(one, parent)
        parent.breaks()
        one.breaks()
        await parent.hears(*OPENED)
        held = await one.incident()

        async def linked() -> bool:
            return bool((await one.caller.got(f"/v1/incidents/{held['id']}"))["parentIncidentId"])

        await eventually(linked)
        await one.hears_nothing_new(A_MINUTE_AND_SOME)
        assert one.heard() == ([], [], [])
        parent.heals()
        await one.hears(*OPENED)


async def flapping(one: Row) -> None:
    for _ in range(4):
        one.breaks()
        await one.status("down")
        one.heals()
        await one.status("up")

    async def noticed() -> bool:
        return "monitor.flapping" in one.events()

    await eventually(noticed)
    before = one.events(DOWN, UP)
    assert before[:4] == [DOWN, UP] * 2
    one.breaks()
    await one.status("down")
    await one.hears_nothing_new(A_MINUTE_AND_SOME)
    one.heals()
    await one.status("up")
    await one.hears_nothing_new(5)
    held = await one.incident("open")
    await one.time_passes(
        """
        UPDATE monitors SET turned_at = ARRAY(SELECT t - interval '10 min' FROM unnest(turned_at) AS t)
        WHERE name = $1
        """
    )

    async def stable() -> bool:
        return one.events().count("monitor.flapping") == 2

    await eventually(stable)
    assert (await one.incident("resolved"))["id"] == held["id"]

    async def told() -> bool:
        return (one.events(DOWN, UP), one.said()[-1]) == ([*before, UP], "Recovered")

    if before[-1] == DOWN:
        await eventually(told)


async def acknowledged(one: Row) -> None:
    await goes_down(one)
    await one.does(f"/v1/incidents/{(await one.incident())['id']}/acknowledge")
    await one.hears_nothing_new(A_MINUTE_AND_SOME)
    one.heals()
    await one.hears(*OVER)
    await one.incident("resolved")


async def resolved_by_hand(one: Row) -> None:
    await goes_down(one)
    id_ = (await one.incident())["id"]
    await one.does(f"/v1/incidents/{id_}/resolve")
    await one.hears_nothing_new(5)
    await one.time_passes(
        """
        WITH before AS (
            UPDATE monitors SET changed_at = changed_at - interval '11 min' WHERE name = $1
        )
        UPDATE incidents SET resolved_at = resolved_at - interval '10 min'
        WHERE monitor_name = $1 AND status = 'resolved'
        """
    )
    await one.hears(["Down", "Down"], [], [DOWN, DOWN])
    assert (await one.incident())["id"] == id_
    log = (await one.caller.got(f"/v1/incidents/{id_}/timeline"))["events"]
    assert "reopened" in [entry["type"] for entry in log]
    await one.hears_nothing_new(40)
    # Reminders and escalation start afresh.
    await asyncio.sleep(A_MINUTE_AND_SOME - 40)

    async def escalated() -> bool:
        return (len(one.said()) > 2, one.said_to_boss()) == (True, ["Escalation 1"])

    await eventually(escalated)
    one.heals()
    await one.all_hear_the_end()
    assert one.events(DOWN, UP) == [DOWN, DOWN, UP]


async def resolved_by_hand_and_good_soon(one: Row) -> None:
    await goes_down(one)
    await one.does(f"/v1/incidents/{(await one.incident())['id']}/resolve")
    await one.hears_nothing_new(3)
    one.heals()
    await one.hears(*OVER)


async def no_voters(one: Row, away: Part) -> None:
    await goes_down(one)
    away.stop()
    await a_minute_later(one)
    one.heals()

    async def called_offline() -> bool:
        return "probe.offline" in one.events()

    await eventually(called_offline, timeout_s=90)
    # Reminders go on, and nobody says that it is over.
    assert set(one.said()) == {"Down"}
    assert one.events(DOWN, UP) == [DOWN]
    assert one.events("probe.offline") == ["probe.offline"]
    await one.incident("open")
    away.start()
    await one.all_hear_the_end()
    await one.incident("resolved")


async def _window(one: Row) -> str:
    """A window for it from now on; its id."""
    start = (await one.caller.got(one.path))["updatedAt"]
    asked = {"name": one.name, "monitors": [one.monitor], "start": start, "duration": 86_400}
    id_: str = (await one.does("/v1/maintenance-windows", asked))["id"]
    return id_


async def _depend(one: Row, parent: Row) -> None:
    status, answer = await one.caller.call("PUT", one.path, {"dependsOn": [parent.monitor]})
    assert status == 200, answer


ROWS: dict[str, Story] = {
    story.__name__: story
    for story in (
        nothing_held,
        paused_and_good_after_it,
        paused_and_bad_after_it,
        silenced_before_the_outage,
        silenced_after_the_opening,
        silenced_all_the_while,
        maintenance_before_the_outage,
        maintenance_after_the_opening,
        parent_down,
        flapping,
        acknowledged,
        resolved_by_hand,
        resolved_by_hand_and_good_soon,
    )
}
ALL = (*ROWS, no_voters.__name__)


async def _play(product: Product, caller: Caller, name: str, story: Story, **fields: Any) -> None:
    async with row(name, product, caller, **fields) as one:
        await story(one)


async def _play_without_voters(product: Product, caller: Caller, home: Path) -> None:
    """With a probe of its own, at a place where no other stands."""
    token = (await caller.made("/v1/probe-tokens", {"location": "away"}))["token"]
    settings = {"COLLECTOR": f"127.0.0.1:{product.grpc}", "JOIN_TOKEN": token, "CANARIES": "none"}
    away = Part("probe", home / "away", settings)
    away.start()
    try:
        await _play(product, caller, no_voters.__name__, partial(no_voters, away=away), locations=["away"])
    finally:
        away.stop()


async def _play_all(home: Path) -> dict[str, BaseException | None]:
    async with running(home, STAND_IN="false") as (product, caller):
        ended = await asyncio.gather(
            *(_play(product, caller, name, story) for name, story in ROWS.items()),
            _play_without_voters(product, caller, home),
            return_exceptions=True,
        )
    return dict(zip(ALL, ended, strict=True))


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, BaseException | None]:
    """How each row ended: None where all was as the table says."""
    return asyncio.run(_play_all(tmp_path_factory.mktemp("holds")))


@pytest.mark.parametrize("name", ALL)
def test_who_hears_what_and_when(ended: dict[str, BaseException | None], name: str) -> None:
    if (fault := ended[name]) is not None:
        raise fault
