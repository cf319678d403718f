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


async def goes_down(row: Row) -> None:
    row.breaks()
    await row.hears(*OPENED)


async def a_minute_later(row: Row) -> None:
    """The chat is reminded, perhaps twice, and the alert escalates once; the state is not announced again."""
    await asyncio.sleep(A_MINUTE_AND_SOME)

    async def have() -> bool:
        return len(row.said()) > 1 and bool(row.said_to_boss())

    await eventually(have)
    assert (set(row.said()), row.said_to_boss(), row.events(DOWN, UP)) == ({"Down"}, ["Escalation 1"], [DOWN])


async def nothing_held(row: Row) -> None:
    await goes_down(row)
    await a_minute_later(row)
    row.heals()
    await row.all_hear_the_end()
    assert (row.said_to_boss(), row.events(DOWN, UP)) == (["Escalation 1", "Recovered"], [DOWN, UP])
    assert (await row.incident("resolved"))["resolvedBy"] == {"id": None, "name": "System"}


async def paused_and_good_after_it(row: Row) -> None:
    await goes_down(row)
    await row.does(f"{row.path}/pause")
    row.heals()
    await row.hears_nothing_new(A_MINUTE_AND_SOME)
    await row.incident("open")
    await row.does(f"{row.path}/resume")
    await row.hears(*OVER)
    await row.incident("resolved")


async def paused_and_bad_after_it(row: Row) -> None:
    await goes_down(row)
    before = await row.incident()
    await row.does(f"{row.path}/pause")
    await row.hears_nothing_new(5)
    await row.does(f"{row.path}/resume")
    await row.hears_nothing_new(10)
    await a_minute_later(row)
    assert (await row.incident())["id"] == before["id"]


async def silenced_before_the_outage(row: Row) -> None:
    await row.does(f"{row.path}/silence", {"duration": 600})
    row.breaks()
    await row.incident()
    await row.hears_nothing_new(A_MINUTE_AND_SOME)
    assert row.heard() == ([], [], [])
    await row.caller.call("DELETE", f"{row.path}/silence")
    await row.hears(*OPENED)
    await a_minute_later(row)


async def silenced_after_the_opening(row: Row) -> None:
    await goes_down(row)
    await row.does(f"{row.path}/silence", {"duration": 600})
    await row.hears_nothing_new(A_MINUTE_AND_SOME)
    row.heals()
    await row.hears(*OVER)


async def silenced_all_the_while(row: Row) -> None:
    await row.does(f"{row.path}/silence", {"duration": 20})
    row.breaks()
    await row.incident()
    row.heals()
    await row.incident("resolved")
    await row.hears_nothing_new(25)
    assert row.heard() == ([], [], [])


async def maintenance_before_the_outage(row: Row) -> None:
    window = await _window(row)
    row.breaks()
    await row.failing()
    await row.hears_nothing_new(10)
    assert (row.heard(), await row.incidents()) == (([], [], []), [])
    await row.does(f"/v1/maintenance-windows/{window}/end")
    await row.hears(*OPENED)
    await row.incident()


async def maintenance_after_the_opening(row: Row) -> None:
    await goes_down(row)
    await _window(row)
    await row.hears_nothing_new(A_MINUTE_AND_SOME)
    row.heals()
    await row.hears(*OVER)


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


async def flapping(row: Row) -> None:
    for _ in range(4):
        row.breaks()
        await row.status("down")
        row.heals()
        await row.status("up")

    async def noticed() -> bool:
        return "monitor.flapping" in row.events()

    await eventually(noticed)
    before = row.events(DOWN, UP)
    assert before[:4] == [DOWN, UP] * 2
    row.breaks()
    await row.status("down")
    await row.hears_nothing_new(A_MINUTE_AND_SOME)
    row.heals()
    await row.status("up")
    await row.hears_nothing_new(5)
    held = await row.incident("open")
    await row.time_passes(
        """
        UPDATE monitors SET turned_at = ARRAY(SELECT t - interval '10 min' FROM unnest(turned_at) AS t)
        WHERE name = $1
        """
    )

    async def stable() -> bool:
        return row.events().count("monitor.flapping") == 2

    await eventually(stable)
    assert (await row.incident("resolved"))["id"] == held["id"]

    async def told() -> bool:
        return (row.events(DOWN, UP), row.said()[-1]) == ([*before, UP], "Recovered")

    if before[-1] == DOWN:
        await eventually(told)


async def acknowledged(row: Row) -> None:
    await goes_down(row)
    await row.does(f"/v1/incidents/{(await row.incident())['id']}/acknowledge")
    await row.hears_nothing_new(A_MINUTE_AND_SOME)
    row.heals()
    await row.hears(*OVER)
    await row.incident("resolved")


async def resolved_by_hand(row: Row) -> None:
    await goes_down(row)
    id_ = (await row.incident())["id"]
    await row.does(f"/v1/incidents/{id_}/resolve")
    await row.hears_nothing_new(5)
    await row.time_passes(
        """
        WITH before AS (
            UPDATE monitors SET changed_at = changed_at - interval '11 min' WHERE name = $1
        )
        UPDATE incidents SET resolved_at = resolved_at - interval '10 min'
        WHERE monitor_name = $1 AND status = 'resolved'
        """
    )
    await row.hears(["Down", "Down"], [], [DOWN, DOWN])
    assert (await row.incident())["id"] == id_
    log = (await row.caller.got(f"/v1/incidents/{id_}/timeline"))["events"]
    assert "reopened" in [entry["type"] for entry in log]
    await row.hears_nothing_new(40)
    # Reminders and escalation start afresh.
    await asyncio.sleep(A_MINUTE_AND_SOME - 40)

    async def escalated() -> bool:
        return (len(row.said()) > 2, row.said_to_boss()) == (True, ["Escalation 1"])

    await eventually(escalated)
    row.heals()
    await row.all_hear_the_end()
    assert row.events(DOWN, UP) == [DOWN, DOWN, UP]


async def resolved_by_hand_and_good_soon(row: Row) -> None:
    await goes_down(row)
    await row.does(f"/v1/incidents/{(await row.incident())['id']}/resolve")
    await row.hears_nothing_new(3)
    row.heals()
    await row.hears(*OVER)


async def no_voters(row: Row, away: Part) -> None:
    await goes_down(row)
    away.stop()
    await a_minute_later(row)
    row.heals()

    async def called_offline() -> bool:
        return "probe.offline" in row.events()

    await eventually(called_offline, timeout_s=90)
    # Reminders go on, and nobody says that it is over.
    assert set(row.said()) == {"Down"}
    assert row.events(DOWN, UP) == [DOWN]
    assert row.events("probe.offline") == ["probe.offline"]
    await row.incident("open")
    away.start()
    await row.all_hear_the_end()
    await row.incident("resolved")


async def _window(row: Row) -> str:
    """A window for it from now on; its id."""
    start = (await row.caller.got(row.path))["updatedAt"]
    asked = {"name": row.name, "monitors": [row.monitor], "start": start, "duration": 86_400}
    id_: str = (await row.does("/v1/maintenance-windows", asked))["id"]
    return id_


async def _depend(row: Row, parent: Row) -> None:
    status, answer = await row.caller.call("PUT", row.path, {"dependsOn": [parent.monitor]})
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
