"""Asks mail addresses outside a team, by a mail with a link, to confirm that they want its alerts."""

import structlog

from collector.accounts.service import access_mails
from collector.notifications.service import outside_mails
from collector.notifications.storage.mail_addresses import Unconfirmed
from collector.platform.mailer import Mailer
from collector.platform.storage.db import Db

log = structlog.get_logger()

_AT_ONCE = 20


class Confirmations:
    """Asks addresses to confirm, each once, however many run; *public_url* has no trailing slash."""

    def __init__(self, db: Db, mailer: Mailer, *, public_url: str) -> None:
        self._db = db
        self._mailer = mailer
        self._public_url = public_url

    async def turn(self) -> bool:
        """Return whether more are waiting."""
        due = await outside_mails.due(self._db, _AT_ONCE)
        for one, secret in due:
            await self._ask(one, secret)
        return len(due) == _AT_ONCE

    async def _ask(self, one: Unconfirmed, secret: str) -> None:
        url = f"{self._public_url}/confirm/{secret}"
        fault = await access_mails.confirming(self._mailer, one.team_id, one.address, one.team_name, url)
        if fault:
            log.info("confirmation request not sent", reason=fault)
        else:
            await outside_mails.asked(self._db, one)
