"""Asks mail addresses outside a team, by a mail with a link, to confirm that they want its alerts."""

from typing import Final

import structlog

from collector.notifications.service import outside_mails
from collector.notifications.storage.mail_addresses import UnconfirmedAddress
from collector.platform.mailer import Mailer
from collector.platform.storage.db import Db
from collector.platform.text_mail import line, send

log = structlog.get_logger()

_AT_ONCE = 20
_CONFIRM: Final = """The team {team} wants to send the alerts of its systems to this address.

If you want them, say so here:

{url}

If not, ignore this: nothing is sent to you.
"""


class Confirmations:
    """Asks addresses to confirm, each once, however many run; *public_url* has no trailing slash."""

    def __init__(self, db: Db, mailer: Mailer, *, public_url: str) -> None:
        self._db = db
        self._mailer = mailer
        self._public_url = public_url

    async def turn(self) -> bool:
        """Return whether more are waiting."""
        due = await outside_mails.due(self._db, _AT_ONCE)
        for address, secret in due:
            await self._ask(address, secret)
        return len(due) == _AT_ONCE

    async def _ask(self, address: UnconfirmedAddress, secret: str) -> None:
        url = f"{self._public_url}/confirm/{secret}"
        fault = await _send(self._mailer, address.team_id, address.address, address.team_name, url)
        if fault:
            log.info("confirmation request not sent", reason=fault)
        else:
            await outside_mails.asked(self._db, address)


async def _send(mailer: Mailer, team_id: int, to: str, team: str, url: str) -> str:
    """Ask an address outside the team whether it wants mails; return the fault, if any."""
    if held := (await mailer.admit(team_id, [to], known=True)).get(to):
        return held.why
    text = _CONFIRM.format(team=line(team), url=url)
    return await send(mailer, to, f"Do you want alerts of {line(team)}?", text)
