"""After a change of keys: seals anew what older keys sealed, so that they can be dropped."""

import structlog

from collector.core.seal import Keyring
from collector.services import resealing
from collector.services.resealing import Progress
from collector.storage.db import Db

log = structlog.get_logger()

_SAID = {
    Progress.MORE: "secrets are sealed anew",
    Progress.DONE: "secrets are sealed with the first key: the others may be dropped",
}


class Resealing:
    """`turn` does a few values; with only one key those alone that are not sealed yet."""

    def __init__(self, db: Db, keyring: Keyring) -> None:
        self._db = db
        self._keyring = keyring
        self._before = Progress.NOTHING

    async def turn(self) -> bool:
        progress = await resealing.some(self._db, self._keyring)
        if progress is not self._before and progress is not Progress.NOTHING:
            log.info(_SAID[progress], key=self._keyring.first.hex())
        self._before = progress
        return progress is Progress.MORE
