"""The audit log: who did what to which resource, from where; written in the action's transaction."""

from collections.abc import Mapping, Sequence
from typing import Any

from collector.platform.access import Actor
from collector.platform.storage import audit as table
from collector.platform.storage.audit import AuditedAction, AuditEntry, AuditFilter
from collector.platform.storage.db import Db, Tx


async def record(
    tx: Tx,
    who: Actor,
    action: str,
    resource: str,
    id_: str,
    *,
    name: str = "",
    fields: Sequence[str] = (),
) -> None:
    """Add one entry; call it once per action that changed something, in the action's transaction.

    *action* is a verb (``create``, ``update``, ``delete``, ``pause``), *resource* a noun (``monitor``), *id_*
    the public id (``mon_...``), *name* the resource's, *fields* the changed fields by their API names
    (``interval``, ``config.url``), never values, which might be secret.
    """
    await table.insert(tx, who, [AuditedAction(action, resource, id_, name, sorted(set(fields)))])


async def record_created(tx: Tx, who: Actor, resource: str, names: Mapping[str, str]) -> None:
    """Add an entry for each of the resources that one action created; *names*: by their public ids."""
    created = [AuditedAction("create", resource, id_, name, ()) for id_, name in names.items()]
    await table.insert(tx, who, created)


async def record_deleted(tx: Tx, who: Actor, resource: str, names: Mapping[str, str]) -> None:
    """Add an entry for each of the resources that one action deleted; *names*: by their public ids."""
    await table.insert(
        tx, who, [AuditedAction("delete", resource, id_, name, ()) for id_, name in names.items()]
    )


async def record_changed(
    tx: Tx, who: Actor, resource: str, changed: Mapping[str, tuple[str, Sequence[str]]]
) -> None:
    """Add an entry for each of the resources that one action changed; by id, the name and the fields."""
    done = [
        AuditedAction("update", resource, id_, name, sorted(set(fields)))
        for id_, (name, fields) in changed.items()
    ]
    await table.insert(tx, who, done)


def differing(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> list[str]:
    """The names of the fields whose values differ, each prefixed with *prefix*."""
    names = {**before, **after}
    return [prefix + name for name in names if before.get(name) != after.get(name)]


async def page(
    db: Db, team_id: int, wanted: AuditFilter, limit: int, offset: int
) -> tuple[list[AuditEntry], int]:
    """A page of the log, newest first, and the total number of entries."""
    async with db.connection() as tx:
        total = await table.count(tx, team_id, wanted)
        entries = await table.newest(tx, team_id, wanted, limit, offset) if offset < total else []
    return entries, total
