"""Reads the bodies of requests about status pages, and says what is not there."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from collector.core.access import Actor
from collector.services import audit
from collector.services._shapes import members
from collector.services.validation import ignored, read
from collector.storage.db import Tx
from collector.storage.status_pages import Page
from shared import ids
from shared.errors import Invalid, NotFound

T = TypeVar("T")

WHAT = "Status page"
RESOURCE = "status-page"
# What a GET shows and nobody sets.
_SHOWN = frozenset(
    {"id", "url", "subscribers", "components", "passwordSet", "status", "revision", "createdAt", "updatedAt"}
    | {"warnings", "publishedAt", "resolvedAt", "updates", "verified", "subscribedAt", "notMeasuredSince"}
)


def wish(cls: type[T], body: Mapping[str, Any], kept: Mapping[str, Any]) -> tuple[T, list[str]]:
    """What *body* asks for, *kept* standing for what it leaves out; and warnings. Raises Invalid."""
    sent = {name: value for name, value in body.items() if name in members(cls)}
    found = read(cls, {**kept, **sent})
    if found.value is None:
        raise Invalid(found.faults)
    unknown = [name for name in body if name not in sent and name not in _SHOWN]
    return found.value, ignored([*unknown, *found.unknown])


def when(text: str | None) -> datetime | None:
    """A timestamp that was checked, in UTC."""
    return None if text is None else datetime.fromisoformat(text.upper()).astimezone(UTC)


def named(key: str, texts: list[str], known: set[UUID]) -> list[UUID]:
    """The components of a page that *texts* name, each once. Raises Invalid for those that it has not."""
    found = {f"{key}[{at}]": ids.read("comp", text) for at, text in enumerate(texts)}
    faults = {at: "the page has no such component" for at, id_ in found.items() if id_ not in known}
    if faults:
        raise Invalid(faults)
    return list(dict.fromkeys(id_ for id_ in found.values() if id_ is not None))


def there(row: T | None, what: str = WHAT) -> T:
    """Raises NotFound."""
    if row is None:
        raise NotFound(f"{what} not found")
    return row


async def record(tx: Tx, who: Actor, action: str, page: Page, fields: list[str] | None = None) -> None:
    """Note in the audit log what became of a page, or of what is on it."""
    await audit.record(
        tx, who, action, RESOURCE, ids.show("sp", page.id), name=page.name, fields=fields or []
    )
