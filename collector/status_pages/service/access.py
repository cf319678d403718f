"""Reads and changes how visitors enter a private status page besides its password."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.seal import Keyring, SealScope
from collector.platform.storage.db import Db
from collector.status_pages.core.access import AccessSettings, PageAccess
from collector.status_pages.service.fields import asked_for, record, there
from collector.status_pages.storage import access as table
from collector.status_pages.storage import status_pages
from collector.status_pages.storage.status_pages import StatusPage


@dataclass(frozen=True, slots=True)
class AccessDetails:
    """The access to a page; *warnings*: ignored parts of the request."""

    page: StatusPage
    access: PageAccess
    warnings: tuple[str, ...] = ()


def settable(access: PageAccess) -> dict[str, Any]:
    """The writable settings, with their current values but for the secret."""
    return {
        "networks": list(access.networks),
        "issuer": access.issuer,
        "clientId": access.client_id,
        "emailDomains": list(access.email_domains),
    }


async def read(db: Db, team_id: int, page_id: UUID) -> AccessDetails:
    """Read the access to a page. Raises NotFound."""
    async with db.connection() as tx:
        page = there(await status_pages.get(tx, team_id, page_id))
        return AccessDetails(page, await table.get(tx, team_id, page_id))


async def update(
    db: Db, keyring: Keyring, who: Actor, page_id: UUID, body: Mapping[str, Any], now: datetime
) -> AccessDetails:
    """Update the access; what *body* lacks is kept, and the secret only with its issuer.

    Raises NotFound, Invalid.
    """
    async with db.transaction() as tx:
        page = there(await status_pages.lock(tx, who.team_id, page_id))
        before = await table.get(tx, who.team_id, page_id)
        request = asked_for(AccessSettings, body, settable(before))
        kept = before.sealed_secret if request.fields.get("issuer") == before.issuer else None
        missing = request.fields.get("issuer") and not request.fields.get("clientSecret") and not kept
        asked = request.checked({"clientSecret": "is required with a new issuer"} if missing else {})
        after = PageAccess(
            networks=asked.networks,
            issuer=asked.issuer,
            client_id=asked.client_id if asked.issuer else None,
            sealed_secret=_sealed(keyring, page, asked) or (kept if asked.issuer else None),
            email_domains=[domain.lower() for domain in asked.email_domains] if asked.issuer else [],
        )
        if after != before:
            await table.put(tx, page.team_id, page.id, after, now)
            changed = audit.differing(settable(before), settable(after))
            changed += ["clientSecret"] if before.sealed_secret != after.sealed_secret else []
            await record(tx, who, "update_access", page, changed)
        return AccessDetails(page, after, tuple(request.warnings))


def secret(keyring: Keyring, page: StatusPage, access: PageAccess) -> str:
    """Return the client's secret in plain text."""
    return keyring.open(access.sealed_secret or b"", _scope(page)).decode()


def _sealed(keyring: Keyring, page: StatusPage, asked: AccessSettings) -> bytes | None:
    if asked.issuer is None or asked.client_secret is None:
        return None
    return keyring.seal(asked.client_secret.encode(), _scope(page))


def _scope(page: StatusPage) -> SealScope:
    return SealScope(page.team_id, "status_page_access", page.id, "sealed_secret")
