"""Filters of the list of monitors that a user saves under a name."""

from uuid import UUID

from collector.monitors.storage import saved_filters as table
from collector.monitors.storage.saved_filters import SavedFilter
from collector.platform.storage.db import Db
from shared.errors import Invalid

LONGEST_NAME = 60
_MOST = 20


async def of_user(db: Db, team_id: int, user_id: UUID) -> list[SavedFilter]:
    """Return the user's filters by name."""
    async with db.connection() as tx:
        return await table.of_user(tx, team_id, user_id)


async def save(db: Db, team_id: int, user_id: UUID, wanted: SavedFilter) -> None:
    """Save the filter, over that of the same name. Raises Invalid for a bad name, and for too many."""
    if not wanted.name or len(wanted.name) > LONGEST_NAME or not wanted.name.isprintable():
        raise Invalid({"name": f"must be 1 to {LONGEST_NAME} characters"})
    async with db.transaction() as tx:
        if not await table.save(tx, team_id, user_id, wanted, _MOST):
            raise Invalid({"name": f"there are {_MOST} saved filters already; delete one first"})


async def delete(db: Db, team_id: int, user_id: UUID, name: str) -> None:
    """Delete the filter of that name, if there is one."""
    async with db.transaction() as tx:
        await table.delete(tx, team_id, user_id, name)
