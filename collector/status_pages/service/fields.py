"""Parses and validates the bodies of requests about status pages."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

from collector.platform import audit, references
from collector.platform.access import Actor
from collector.platform.answer_json import read_only
from collector.platform.storage.db import Tx
from collector.platform.validation.shapes import members
from collector.platform.validation.validation import ignored, read
from collector.status_pages.answers import (
    AccessAnswer,
    IncidentTemplateAnswer,
    PageAnswer,
    PageIncidentAnswer,
    StatusPageComponent,
    SubscriberAnswer,
)
from collector.status_pages.core.access import AccessSettings
from collector.status_pages.core.fields import (
    ComponentSettings,
    PageIncidentSettings,
    PageSettings,
    SubscriberSettings,
)
from collector.status_pages.core.incident_templates import IncidentTemplateSettings
from collector.status_pages.storage.status_pages import StatusPage
from shared import ids
from shared.errors import Invalid, NotFound

T = TypeVar("T")

WHAT = "Status page"
RESOURCE = "status-page"
# Fields of a GET response that cannot be set.
_READ_ONLY: Final = frozenset[str]().union(
    read_only(PageAnswer, PageSettings),
    read_only(StatusPageComponent, ComponentSettings),
    read_only(PageIncidentAnswer, PageIncidentSettings),
    read_only(SubscriberAnswer, SubscriberSettings),
    read_only(AccessAnswer, AccessSettings),
    read_only(IncidentTemplateAnswer, IncidentTemplateSettings),
)


@dataclass(frozen=True, slots=True)
class StatusPageRequest(Generic[T]):
    """A parsed request body; *value* is set if there are no *faults*. *fields*: those read."""

    value: T | None
    fields: Mapping[str, Any]
    faults: dict[str, str]
    warnings: list[str]

    def checked(self, more: Mapping[str, str]) -> T:
        """Return the value. Raises Invalid with all errors, including *more*."""
        faults = {**more, **self.faults}
        if faults or self.value is None:
            raise Invalid(faults)
        return self.value


def parse(cls: type[T], body: Mapping[str, Any], kept: Mapping[str, Any]) -> tuple[T, list[str]]:
    """Parse a *body* without ids of other records; return the value and warnings. Raises Invalid."""
    read_ = asked_for(cls, body, kept)
    return read_.checked({}), read_.warnings


def asked_for(cls: type[T], body: Mapping[str, Any], kept: Mapping[str, Any]) -> StatusPageRequest[T]:
    """Parse *body*; *kept* supplies the fields that it lacks."""
    sent = {name: value for name, value in body.items() if name in members(cls)}
    values = {**kept, **sent}
    outcome = read(cls, values)
    unknown = [name for name in body if name not in sent and name not in _READ_ONLY]
    return StatusPageRequest(outcome.value, values, outcome.faults, ignored([*unknown, *outcome.unknown]))


def when(text: str | None) -> datetime | None:
    """Parse a validated timestamp, in UTC."""
    return None if text is None else datetime.fromisoformat(text.upper()).astimezone(UTC)


def named(key: str, listed: Any, known: Collection[UUID]) -> tuple[list[UUID], dict[str, str]]:
    """The *listed* components, each once, and errors for those that the page does not have."""
    by_key = references.many("comp", key, listed)
    return list(dict.fromkeys(by_key.values())), references.strangers(
        by_key, known, "the page has no such component"
    )


def there(row: T | None, what: str = WHAT) -> T:
    """Return *row*. Raises NotFound if it is None."""
    if row is None:
        raise NotFound(f"{what} not found")
    return row


async def record(tx: Tx, who: Actor, action: str, page: StatusPage, fields: list[str] | None = None) -> None:
    """Add an entry about a page, or about a part of it, to the audit log."""
    await audit.record(
        tx, who, action, RESOURCE, ids.show("sp", page.id), name=page.name, fields=fields or []
    )
