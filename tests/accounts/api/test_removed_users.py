"""Of a removed user neither name nor address is left in any table; the logs say "removed user 1"."""

from typing import Any

import asyncpg
import pytest

from shared import ids
from tests.http.client import Api
from tests.http.rows import incident, insert
from tests.monitors.monitors import rows

NAME, OLD_NAME, EMAIL = "Quillon Ashworth", "Q. Brackett", "quillon@example.com"
# Where the user must have been, so that the walk proves something.
EVERYWHERE = {
    "alerts",
    "audit_log",
    "channel_faults",
    "channels",
    "deliveries",
    "delivery_attempts",
    "events",
    "incident_notes",
    "incidents",
    "mail_addresses",
    "postmortems",
    "report_mails",
    "reports",
    "timeline",
    "users",
    "wall_links",
}
pytestmark = pytest.mark.oldest


async def tables_with(api: Api, *texts: str) -> set[str]:
    """The tables of the schema that have one of *texts* in any column of any row."""
    names = [
        row["name"]
        for row in await rows(
            api,
            """
            SELECT relname AS name FROM pg_class
            WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
                AND NOT relispartition
            """,
        )
    ]
    found = set()
    for name in names:
        for text in texts:
            if await rows(
                api, f"SELECT 1 AS one FROM {name} t WHERE strpos(lower(t::text), $1) > 0", text.lower()
            ):
                found.add(name)
    return found


async def joined(api: Api, name: str, email: str) -> tuple[str, Api]:
    """A user of the team, and the user's client."""
    made = await api.post("/v1/users", {"email": email, "name": name, "role": "editor"})
    assert made.status == 201, made.body
    token = await api.post(
        "/v1/tokens", {"name": "own", "permission": "read-write", "userId": made.json["id"]}
    )
    assert token.status == 201, token.body
    return str(made.json["id"]), api.with_token(token.json["token"])


async def acted(api: Api, person: Api, user: str) -> str:
    """The user acts by the API under both names, and is written to; return an incident's path."""
    path = ""
    for name in (OLD_NAME, NAME):
        assert (await api.put(f"/v1/users/{user}", {"name": name})).status == 200
        made = await person.post("/v1/incidents", {"title": "It smells of smoke"})
        path = f"/v1/incidents/{made.json['id']}"
        for action, body in (("acknowledge", None), ("notes", {"text": "Looked"}), ("resolve", None)):
            assert (await person.post(f"{path}/{action}", body)).status < 300
    team = {"team_id": api.team_id}
    db, now = api.context.db, api.clock()
    kept = ids.read("inc", path.rpartition("/")[2])
    await insert(
        db,
        "postmortems",
        {**team, "incident_id": kept, "text": "", "revision": 1, "updated_by": NAME, "updated_at": now},
    )
    mailing = {"name": "Mail", "type": "email", "config": {"recipients": [EMAIL, "other@example.com"]}}
    channel = ids.read("chan", (await api.post("/v1/alert-channels", mailing)).json["id"])
    report = await api.post("/v1/reports", {"name": "Monthly", "recipients": [EMAIL, "other@example.com"]})
    edition = await api.post(f"/v1/reports/{report.json['id']}/editions")
    mail = {"edition_id": ids.read("edn", edition.json["id"]), "address": EMAIL}
    await insert(db, "report_mails", {**team, **mail})
    await insert(db, "mail_addresses", {**team, "address": EMAIL})
    refusal = f"the mail server refused {EMAIL}: 550"
    fault = {"channel_id": channel, "failing_since": now, "last_error": refusal}
    await insert(db, "channel_faults", {**team, **fault})
    await logged(api, channel, refusal, user)
    entry = {"at": now, "type": "notification_failed", "actor": "System", "details": f"Mail: {refusal}"}
    await insert(db, "timeline", {**team, "incident_id": kept, **entry})
    return path


async def logged(api: Api, channel: Any, refusal: str, user: str) -> None:
    """A delivery to the address, an alert that the user acknowledged, and a link that the user made."""
    team, db, now = {"team_id": api.team_id}, api.context.db, api.clock()
    id_ = ids.uuid7()
    delivery = {
        "id": id_,
        "channel_id": channel,
        "stream_id": ids.uuid7(),
        "sequence": 1,
        "event_id": ids.uuid7(),
        "event_kind": "test",
        "status": 2,
        "reached": EMAIL,
        "due_at": now,
        "created_at": now,
        "finished_at": now,
    }
    await insert(db, "deliveries", {**team, **delivery})
    attempt = {"delivery_id": id_, "attempt": 1, "error": refusal, "note": refusal, "at": now}
    await insert(db, "delivery_attempts", {**team, **attempt})
    alert = {
        "id": ids.uuid7(),
        "rule_id": ids.uuid7(),
        "rule_name": "Slow",
        "monitor_id": ids.uuid7(),
        "monitor_name": "shop",
        "status": "firing",
        "reason": "latencyThresholdMs",
        "value": 900.0,
        "threshold": 800.0,
        "fired_at": now,
        "acknowledged_by": {"id": user, "name": NAME},
    }
    await insert(db, "alerts", {**team, **alert})
    link = {"id": ids.uuid7(), "hash": b"x" * 32, "name": "Wall", "created_by": NAME, "created_at": now}
    await insert(db, "wall_links", {**team, **link})


async def test_nothing_of_a_removed_user_is_left_in_any_table(api: Api) -> None:
    user, person = await joined(api, OLD_NAME, EMAIL)
    path = await acted(api, person, user)
    assert await tables_with(api, NAME, OLD_NAME, EMAIL) == EVERYWHERE

    assert (await api.delete(f"/v1/users/{user}")).status == 204

    assert await tables_with(api, NAME, OLD_NAME, EMAIL) == set()
    shown = (await api.get(path)).json
    assert shown["acknowledgedBy"] == {"id": None, "name": "removed user 1"}
    timeline = (await api.get(f"{path}/timeline")).json["events"]
    assert {entry["actor"] for entry in timeline} == {"removed user 1", "System"}
    assert timeline[-1]["details"] == "Mail: the mail server refused removed user 1: 550"
    assert "Acknowledged by removed user 1" in {entry["details"] for entry in timeline}
    # Who did what is still one person's, in the log as in the events.
    log = (await api.get(f"/v1/audit-log?actor={user}")).json["data"]
    assert {entry["actor"]["name"] for entry in log} == {"removed user 1"}
    [entry] = (await api.get(f"/v1/audit-log?resource={user}&action=delete")).json["data"]
    assert entry["actor"]["name"] == "Admin"
    [channel] = (await api.get("/v1/alert-channels")).json["data"]
    assert channel["config"]["recipients"] == ["other@example.com"]


async def test_a_namesake_keeps_the_name(api: Api) -> None:
    first, person = await joined(api, NAME, EMAIL)
    await joined(api, NAME, "other@example.com")
    made = await person.post("/v1/incidents", {"title": "It smells of smoke"})

    await api.delete(f"/v1/users/{first}")

    timeline = (await api.get(f"/v1/incidents/{made.json['id']}/timeline")).json["events"]
    assert {entry["actor"] for entry in timeline} == {NAME}
    assert await tables_with(api, EMAIL) == set()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE audit_log SET action = 'x'",
        "UPDATE audit_log SET actor_name = 'Somebody else'",
        "UPDATE audit_log SET actor_name = 'removed user 1', resource_id = 'x'",
        "UPDATE audit_log SET address = '192.0.2.1'",
        "UPDATE timeline SET details = 'x'",
        "UPDATE timeline SET actor = 'Somebody else'",
        "UPDATE timeline SET details = 'It smells of removed user 1 and fire'",
        "DELETE FROM timeline",
    ],
)
async def test_a_log_may_lose_who_it_names_and_nothing_else(api: Api, change: str) -> None:
    made = await api.post("/v1/incidents", {"title": "It smells of smoke"})
    assert made.status == 201
    await incident(api.context.db, api.team_id)

    async with api.context.db.connection() as tx:
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="append-only"):
            await tx.execute(change)
