"""Validates the monitors that a monitor should depend on."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from collector.monitors.storage import monitors as table
from collector.monitors.storage import parents
from collector.platform.storage.db import Tx
from shared import ids


async def unknown(tx: Tx, team_id: int, body: Mapping[str, Any]) -> dict[str, str]:
    """Return a fault for each parent in *body* that does not exist; lock the others against deletion."""
    return (await unknown_of_all(tx, team_id, [body]))[0]


async def faults(tx: Tx, team_id: int, id_: UUID, body: Mapping[str, Any]) -> dict[str, str]:
    """As `unknown`, for the existing monitor *id_*, on which its parents must not depend."""
    found = await unknown(tx, team_id, body)
    named = list(_named(body).values())
    if named and not found and id_ in await table.ancestors(tx, team_id, named):
        return {"dependsOn": "would make a circle: a monitor must not depend on itself"}
    return found


async def unknown_of_all(
    tx: Tx, team_id: int, bodies: Sequence[Mapping[str, Any]], created: frozenset[UUID] = frozenset()
) -> list[dict[str, str]]:
    """As `unknown`, for several bodies; *created*: monitors that are about to be created."""
    named = [_named(body) for body in bodies]
    wanted = {id_ for each in named for id_ in each.values()} - created
    known = created | (await parents.hold(tx, team_id, list(wanted)) if wanted else set())
    return [
        {
            f"dependsOn[{place}]": "no such monitor"
            for place, text in enumerate(body["dependsOn"])
            if isinstance(text, str) and text in each and each[text] not in known
        }
        if each
        else {}
        for body, each in zip(bodies, named, strict=True)
    ]


def _named(body: Mapping[str, Any]) -> dict[str, UUID]:
    """Return the valid ids among the parents in *body*."""
    sent = body.get("dependsOn")
    texts = [text for text in sent if isinstance(text, str)] if isinstance(sent, list) else []
    return {text: id_ for text in texts if (id_ := ids.read("mon", text))}
