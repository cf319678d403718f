"""Monitors that are changed or deleted together end as if each had been changed or deleted alone."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from collector.alerts.service.followers import FOLLOWERS
from collector.monitors.service import ends, monitors, updates
from collector.platform.access import system
from collector.platform.storage.db import Db
from shared import ids
from shared.clock import utc_now
from shared.ids import uuid7
from shared.kinds import RECEIVING, TYPES
from tests.http.client import Api
from tests.http.fixtures import api, keyring, made, module_api, own_api, team
from tests.monitors.declared import everything

__all__ = ["api", "keyring", "made", "module_api", "own_api", "team"]

# Everything that a change writes, by the monitors' names and without what differs between any two changes.
_WRITTEN: Mapping[str, str] = {
    "monitors": """
        SELECT m.name, m.revision, m.interval_s, m.timeout_s, m.tags, m.quorum, m.config - 'url' AS config,
            m.locations, m.description, m.updated_at, m.stopped_revision
        FROM monitors m WHERE m.team_id = $1 ORDER BY m.name
    """,
    "states": """
        SELECT m.name, s.location, s.turn, s.revision, s.probe_id, s.assignment IS NOT NULL AS assigned,
            s.ordinal, s.failing, s.fails, s.goods, s.failed_since, s.last_at, s.checkpoint
        FROM states s JOIN monitors m USING (monitor) WHERE m.team_id = $1 ORDER BY m.name, s.location
    """,
    "cadences": """
        SELECT m.name, c.since, c.cover_s FROM cadences c JOIN monitors m USING (monitor)
        WHERE m.team_id = $1 ORDER BY m.name, c.since
    """,
    "heartbeats": """
        SELECT m.name, h.wait_s, h.grace_s, h.cover_s, h.base_at, h.due_at FROM heartbeats h
        JOIN monitors m USING (team_id, id) WHERE m.team_id = $1 ORDER BY m.name
    """,
    "audit log": """
        SELECT action, resource, resource_name, fields FROM audit_log
        WHERE team_id = $1 AND action <> 'create' ORDER BY resource_name
    """,
    "events": """
        SELECT m.name, e.kind, e.sequence, e.payload -> 'monitor' ->> 'name' AS about
        FROM events e JOIN monitors m ON m.team_id = e.team_id AND m.id = e.stream_id
        WHERE e.team_id = $1 ORDER BY m.name, e.sequence
    """,
}


def body_of(name: str) -> dict[str, Any]:
    """A change for a monitor of everything(): what it does differs by its type."""
    type_ = name.removeprefix("Of type ")
    body: dict[str, Any] = {"tags": {"team": "shop"}, "description": "It is another now."}
    if type_ == "heartbeat":
        return body | {"config": {"expectedInterval": "12h"}}
    if type_ in RECEIVING or type_ in {"dns", "icmp"}:
        return body
    return body | {"interval": 300}


async def furnished(api: Api, probe: UUID) -> dict[str, UUID]:
    """One monitor of each type; a failing one, a paused one, one that keeps its place in a chain."""
    monitors = everything()["monitors"]
    answer = await api.post("/v1/apply", {"monitors": monitors})
    assert answer.status == 200, answer.body
    async with api.context.db.transaction() as tx:
        await tx.execute(
            """
            UPDATE states s SET fails = 2, goods = 1, failing = m.type = 'tcp', last_at = m.created_at,
                failed_since = $2, ordinal = 7, checkpoint = 'at 7', probe_id = $3, assignment = 1
            FROM monitors m WHERE m.monitor = s.monitor AND m.team_id = $1
            """,
            api.team_id,
            utc_now().replace(hour=0, minute=0, second=0, microsecond=0),
            probe,
        )
        await tx.execute(
            "UPDATE monitors SET paused_at = created_at WHERE team_id = $1 AND type = 'smtp'", api.team_id
        )
        rows = await tx.fetch("SELECT name, id FROM monitors WHERE team_id = $1", api.team_id)
    return {row["name"]: row["id"] for row in rows}


async def written(db: Db, team_id: int) -> dict[str, list[dict[str, Any]]]:
    async with db.connection() as connection:
        return {
            what: [dict(row) for row in await connection.fetch(sql, team_id)]
            for what, sql in _WRITTEN.items()
        }


@pytest.mark.oldest
async def test_monitors_changed_together_come_to_what_each_comes_to_alone(api: Api, db: Db) -> None:
    probe = uuid7()
    async with db.transaction() as tx:
        await tx.execute(
            """
            INSERT INTO probes (probe_id, name, locations, kinds, session, seen_at, connected_at, created_at)
            VALUES ($1, 'probe', '{eu,local}', $3, 1, $2, $2, $2)
            """,
            probe,
            utc_now(),
            list(TYPES),
        )
    other = await api.other_team()
    together, alone = await furnished(api, probe), await furnished(other, probe)
    now = utc_now() + timedelta(seconds=1)
    bodies = {id_: body_of(name) for name, id_ in together.items()}

    said = await updates.update_all(api.context, api.team_id, bodies, now)
    each = {
        name: await monitors.update(api.context, other.team_id, id_, body_of(name), now)
        for name, id_ in alone.items()
    }

    assert len(together) == len(TYPES)
    assert {name: said[id_] for name, id_ in together.items()} == {
        name: saved.warnings for name, saved in each.items()
    }
    ours, theirs = await written(db, api.team_id), await written(db, other.team_id)
    for what, rows in theirs.items():
        assert [_timeless(row) for row in ours[what]] == [_timeless(row) for row in rows], what
    assert len(ours["audit log"]) == len(TYPES)
    assert {row["probe_id"] for row in ours["states"] if row["name"] == "Of type tcp"} == {probe}


def _timeless(row: dict[str, Any]) -> dict[str, Any]:
    """Without what each team's creation made: its own moment."""
    return {name: value for name, value in row.items() if name not in {"base_at", "last_at", "since"}}


async def test_a_monitor_whose_change_has_faults_or_moves_it_is_left_to_its_own_change(
    api: Api, db: Db
) -> None:
    named = await furnished(api, uuid7())
    before = await written(db, api.team_id)
    bodies: dict[UUID, dict[str, Any]] = {
        named["Of type tcp"]: {"config": {"port": 70_000}},
        named["Of type dns"]: {"locations": ["eu"]},
        named["Of type icmp"]: {"dependsOn": []},
        uuid7(): {"name": "Nobody"},
        named["Of type tls"]: {},
    }

    said = await updates.update_all(api.context, api.team_id, bodies, utc_now())

    assert said == {named["Of type tls"]: []}
    assert await written(db, api.team_id) == before


# The one that depends on another.
CHILD = everything()["monitors"][0]["name"]

# What is left of deleted monitors, and of those that named them.
_LEFT: Mapping[str, str] = {
    "monitors": """
        SELECT name, cardinality(depends_on) AS parents FROM monitors WHERE team_id = $1 ORDER BY name
    """,
    "states": "SELECT count(*) AS count FROM states JOIN monitors USING (monitor) WHERE team_id = $1",
    "rules": """
        SELECT name, cardinality(monitors) AS monitors, monitors IS NULL AS all_of_them FROM rules
        WHERE team_id = $1 ORDER BY name
    """,
    "heartbeats": "SELECT count(*) AS count FROM heartbeats WHERE team_id = $1",
    "audit log": """
        SELECT action, resource, resource_name, fields FROM audit_log
        WHERE team_id = $1 AND action = 'delete' ORDER BY resource_name
    """,
    "events": """
        SELECT kind, sequence, payload -> 'monitor' ->> 'name' AS about FROM events
        WHERE team_id = $1 ORDER BY about, sequence
    """,
    "streams": "SELECT sequence - routed AS waiting FROM streams WHERE team_id = $1 ORDER BY waiting",
    "incidents": "SELECT status, monitor_name FROM incidents WHERE team_id = $1 ORDER BY monitor_name",
}


@pytest.mark.oldest
async def test_monitors_deleted_together_leave_what_each_leaves_alone(api: Api, db: Db) -> None:
    other = await api.other_team()
    now = utc_now()
    left = []
    for one in (api, other):
        named = await furnished(one, uuid7())
        rule = {
            "name": "Anything",
            "monitors": [ids.show("mon", named[f"Of type {t}"]) for t in ("tcp", "dns")],
        }
        assert (await one.post("/v1/alert-rules", rule)).status == 201
        kept = named.pop(CHILD)
        await down(db, one, named["Of type tls"], now)
        if one is api:
            gone = await ends.delete_all(db, FOLLOWERS, system(one.team_id), list(named.values()), now)
            assert named.keys() - {name for name, id_ in named.items() if id_ in gone} == {"Of type tls"}
            named = {"Of type tls": named["Of type tls"]}
        for id_ in named.values():
            signals = one.context.signals
            await ends.delete(db, signals, FOLLOWERS, one.team_id, id_, now, who=system(one.team_id))
        async with db.connection() as connection:
            left.append(
                {
                    what: [dict(row) for row in await connection.fetch(sql, one.team_id)]
                    for what, sql in _LEFT.items()
                }
            )
            states = await connection.fetchval(
                "SELECT count(*) FROM states WHERE monitor NOT IN (SELECT monitor FROM monitors)"
            )
        assert states == 0
        assert (await one.get(f"/v1/monitors/{ids.show('mon', kept)}")).json["dependsOn"] == []

    assert left[0] == left[1]
    assert len(left[0]["audit log"]) == len(TYPES) - 1


async def down(db: Db, api: Api, id_: UUID, at: datetime) -> None:
    """An open incident of the monitor, of which channels were notified."""
    async with db.transaction() as tx:
        await tx.execute(
            """
            INSERT INTO incidents (team_id, id, monitor_id, monitor_name, automatic, title, status, severity,
                started_at, span_from, created_at)
            SELECT team_id, $2, id, name, true, name, 'open', severity, $3, $3, $3 FROM monitors
            WHERE team_id = $1 AND id = $4
            """,
            api.team_id,
            uuid7(),
            at,
            id_,
        )
        await tx.execute("UPDATE monitors SET down = true, told = true WHERE id = $1", id_)
