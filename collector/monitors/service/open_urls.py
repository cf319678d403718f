"""Seals secrets in URLs that earlier versions stored in plain text."""

from contextlib import suppress
from uuid import UUID

from collector.monitors.service.columns import sealed_at, split_config
from collector.monitors.storage import monitors, open_urls
from collector.platform.masks import hides
from collector.platform.seal import Keyring, Unsealable, whole
from collector.platform.storage.db import Db
from shared.kinds import KINDS

_AT_ONCE = 200


async def some(db: Db, keyring: Keyring, after: int) -> int | None:
    """Continue after the monitor with that number; return the last number, None at the end."""
    async with db.connection() as tx:
        queries = await open_urls.after(tx, after, _AT_ONCE)
    for query in queries:
        if hides(KINDS[query.type], query.config):
            with suppress(Unsealable):  # the probes' sessions report such a monitor
                await _seal(db, keyring, query.team_id, query.id)
    return queries[-1].monitor if queries else None


async def _seal(db: Db, keyring: Keyring, team_id: int, id_: UUID) -> None:
    async with db.transaction() as tx:
        monitor = await monitors.lock(tx, team_id, id_)
        if monitor is None:
            return
        config = whole(keyring, monitor.config, monitor.secrets, sealed_at(team_id, id_))
        opened, secrets = split_config(keyring, (team_id, id_), KINDS[monitor.type], config)
        await open_urls.save(tx, team_id, id_, opened, secrets)
