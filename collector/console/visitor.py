"""The signed-in user of the console and their browser, and how a request's visitor is found."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from collector.console.display import Display
from collector.platform.access import Actor, Permission
from shared import ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """The signed-in user, as of this request; *token_id*: the API token that the session was opened with.

    *lacks_second_factor*: the team requires a second factor, which this session does not have.
    """

    team_id: int
    session_id: UUID
    user_id: UUID
    token_id: UUID | None
    name: str
    email: str
    role: str
    team: str
    plan: str
    permission: Permission
    ends_at: datetime
    display: Display
    lacks_second_factor: bool = False

    @property
    def shown_id(self) -> str:
        return ids.show("usr", self.user_id)


@dataclass(frozen=True, slots=True)
class Browser:
    """The origin of a request."""

    address: str
    agent: str
    request_id: str | None = None


class VisitorFinder(Protocol):
    """Finds the visitor of a request."""

    async def find(self, cookie: str, now: datetime) -> Visitor | None:
        """Return the visitor whose session the cookie opens, if it is alive. Raises Unavailable."""

    async def close(self) -> None:
        """Return its connection."""


def actor(visitor: Visitor, browser: Browser) -> Actor:
    """Return the visitor as an actor for the audit log."""
    return Actor(
        visitor.team_id,
        visitor.shown_id,
        visitor.name,
        token_id=visitor.token_id,
        address=browser.address,
        request_id=browser.request_id,
    )
