"""Mails to addresses outside a team: limited by the hour, confirmed if the operator demands it."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from collector.notifications.storage import mail_addresses as table
from collector.notifications.storage.mail_addresses import UnconfirmedAddress
from collector.platform.bucket import TeamPlan
from collector.platform.mailer import Held
from collector.platform.secret_hash import secret_hash
from collector.platform.storage import limits, teams
from collector.platform.storage.db import Db, Tx
from shared.errors import NotFound

_SECRET_BYTES: Final = 24
_RETRY: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class OutsideMails:
    """Holds back some of a team's mails; *confirm*: addresses outside the team must confirm once."""

    db: Db
    plans: Mapping[str, TeamPlan]
    confirm: bool = False

    async def held(self, team_id: int, addresses: Sequence[str], *, known: bool = False) -> dict[str, Held]:
        """Why some of *addresses* receive no mail now; a mail to each of the others is counted as sent.

        *known*: they confirmed elsewhere. Raises Unavailable.
        """
        by_small = {address.lower(): address for address in addresses}
        async with self.db.transaction() as tx:
            outside = await table.outside(tx, team_id, list(by_small))
            silent = await self._unconfirmed(tx, team_id, [] if known else outside)
            asked = [address for address in outside if address not in silent]
            over = await self._over(tx, team_id, asked)
        return {by_small[address]: why for address, why in {**silent, **over}.items()}

    async def _unconfirmed(self, tx: Tx, team_id: int, outside: Sequence[str]) -> dict[str, Held]:
        if not self.confirm or not outside:
            return {}
        return {
            address: Held(f"{address} is outside the team and did not confirm yet that it wants mails")
            for address in await table.unconfirmed(tx, team_id, outside)
        }

    async def _over(self, tx: Tx, team_id: int, asked: Sequence[str]) -> dict[str, Held]:
        team = await teams.get(tx, team_id) if asked else None
        if team is None:
            return {}
        most = self.plans[team.plan].mails_per_hour
        granted, wait_s = await limits.take(tx, (team_id, b"mails"), len(asked), most)
        why = Held(f"the team's {most} mails an hour to addresses outside the team are spent", wait_s)
        return dict.fromkeys(asked[granted:], why)


async def unconfirmed(db: Db, team_id: int, addresses: Sequence[str]) -> list[str]:
    """The given addresses that are outside the team and have not confirmed."""
    small = list(dict.fromkeys(address.lower() for address in addresses))
    async with db.connection() as tx:
        return await table.unconfirmed(tx, team_id, await table.outside(tx, team_id, small))


async def ask_again(db: Db, team_id: int, addresses: Sequence[str]) -> None:
    """Ask unconfirmed addresses again, at the earliest a day after the last mail."""
    async with db.transaction() as tx:
        await table.ask_again(tx, team_id, [address.lower() for address in addresses])


async def due(db: Db, limit: int) -> list[tuple[UnconfirmedAddress, str]]:
    """The addresses to ask now, each with the secret of a new link."""
    async with db.transaction() as tx:
        await table.note(tx, limit)
        found = [(one, secrets.token_urlsafe(_SECRET_BYTES)) for one in await table.claim(tx, limit, _RETRY)]
        for address, secret in found:
            await table.prepare(tx, address.team_id, address.address, secret_hash(secret))
    return found


async def asked(db: Db, address: UnconfirmedAddress) -> None:
    """Record that the mail was handed in."""
    async with db.transaction() as tx:
        await table.asked(tx, address.team_id, address.address)


async def linked(db: Db, secret: str) -> UnconfirmedAddress:
    """The address to which a confirmation link was sent. Raises NotFound."""
    async with db.connection() as tx:
        return _there(await table.linked(tx, secret_hash(secret)))


async def confirm(db: Db, secret: str) -> UnconfirmedAddress:
    """Confirm the address; mails are sent to it from now on. Raises NotFound."""
    async with db.transaction() as tx:
        address = _there(await table.linked(tx, secret_hash(secret)))
        await table.confirm(tx, secret_hash(secret))
    return address


def _there(address: UnconfirmedAddress | None) -> UnconfirmedAddress:
    if address is None:
        raise NotFound("This link leads nowhere: a newer mail has another one")
    return address
