"""Seals secrets again with the first key, so that older keys can be dropped."""

import structlog

from collector.monitors.service import open_urls
from collector.ops.service import reseal
from collector.ops.service.reseal import ResealProgress
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db

log = structlog.get_logger()

_SAID = {
    ResealProgress.MORE: "secrets are sealed anew",
    ResealProgress.DONE: "secrets are sealed with the first key: the others may be dropped",
}


class Resealing:
    """Reseals a few values per turn; with a single key, only values stored in plain text."""

    def __init__(self, db: Db, keyring: Keyring) -> None:
        self._db = db
        self._keyring = keyring
        self._before = ResealProgress.NOTHING
        # The last monitor whose URL was checked; None: all were.
        self._monitor: int | None = 0

    async def turn(self) -> bool:
        progress = await reseal.some(self._db, self._keyring)
        if progress is not self._before and progress is not ResealProgress.NOTHING:
            log.info(_SAID[progress], key=self._keyring.first.hex())
        self._before = progress
        if self._monitor is not None:
            self._monitor = await open_urls.some(self._db, self._keyring, self._monitor)
        return progress is ResealProgress.MORE or self._monitor is not None
