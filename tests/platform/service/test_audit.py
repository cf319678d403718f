"""Audit entries of actions without a request: probes that join, the operator's commands."""

from typing import Any

import pytest

from collector.platform import audit
from collector.platform.access import DEPLOYMENT, operator
from collector.platform.seal import Keyring
from collector.platform.storage.audit import AuditFilter
from collector.platform.storage.db import Db
from collector.probes.service import authority, enrolment, join_tokens, probes
from shared import ids, pki
from shared import join_tokens as texts
from shared.clock import utc_now
from shared.tokens import new_key
from tests.notifications.ground import make_team

KEYRING = Keyring.parse(new_key())


async def joined(db: Db, team_id: int | None, times: int = 1) -> str:
    """The id of a probe that asked for its certificate so many times."""
    trust, key = await authority.trust(db, KEYRING, utc_now()), pki.new_key()
    async with db.transaction() as tx:
        _, text = await join_tokens.issue(tx, trust, team_id=team_id, locations=["eu"], now=utc_now())
    for _ in range(times):
        issued = await enrolment.enrol(
            db,
            trust,
            secret=texts.read(text).secret,
            csr=pki.request(key),
            name="probe-1",
            locations=[],
            now=utc_now(),
        )
    return ids.show("prb", issued.probe_id)


async def log(db: Db, team_id: int) -> list[tuple[Any, ...]]:
    entries, total = await audit.page(db, team_id, AuditFilter(), 100, 0)
    assert len(entries) == total
    return [(entry.actor_kind, entry.action, entry.resource, entry.resource_id) for entry in entries]


async def test_a_probe_that_joins_is_noted_once_however_often_it_asks(db: Db) -> None:
    team = await make_team(db)

    probe = await joined(db, team, times=3)

    assert await log(db, team) == [("system", "enrol", "probe", probe)]


async def test_the_log_says_by_which_token_it_joined(db: Db) -> None:
    team = await make_team(db)
    await joined(db, team)

    [entry], _ = await audit.page(db, team, AuditFilter(), 1, 0)

    assert entry.actor_name == "Join token"
    assert entry.actor_id is not None
    assert ids.read("tok", entry.actor_id) is not None


@pytest.mark.oldest
async def test_what_the_operator_does_to_a_teams_probe_is_in_the_teams_log(db: Db) -> None:
    team = await make_team(db)
    probe = await joined(db, team)
    id_ = ids.read("prb", probe)
    assert id_ is not None

    await probes.drain(db, operator(), id_, utc_now())
    await probes.drain(db, operator(), id_, utc_now())
    await probes.revoke(db, operator(), id_, utc_now())

    assert await log(db, team) == [
        ("operator", "revoke", "probe", probe),
        ("operator", "drain", "probe", probe),
        ("system", "enrol", "probe", probe),
    ]


async def test_what_concerns_every_team_is_in_no_teams_log(db: Db) -> None:
    team = await make_team(db)
    probe = await joined(db, None)
    id_ = ids.read("prb", probe)
    assert id_ is not None

    await probes.revoke(db, operator(), id_, utc_now())

    assert await log(db, team) == []
    assert [entry[1] for entry in await log(db, DEPLOYMENT)] == ["revoke", "enrol"]
