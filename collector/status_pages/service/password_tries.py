"""Limits attempts to enter private status pages, counted over all collectors."""

import hashlib
from typing import Final
from uuid import UUID

from collector.http.client_address import network
from collector.platform.bucket import TeamPlan
from collector.platform.limits import Limits
from collector.platform.storage.db import Db
from shared.errors import Limited

# Limits for each page: for one client, and for all together.
BY_ADDRESS: Final = TeamPlan(per_minute=1, burst=5)
BY_PAGE: Final = TeamPlan(per_minute=60, burst=200)
# The same for sign-ins at a provider, where many people may share an address, and guessing is of no use.
SIGN_IN_BY_ADDRESS: Final = TeamPlan(per_minute=60, burst=120)
SIGN_IN_BY_PAGE: Final = TeamPlan(per_minute=600, burst=1_200)


class PageTries:
    """The attempts on pages, of one *kind*; one instance of each per collector."""

    def __init__(
        self,
        db: Db,
        *,
        by_address: TeamPlan = BY_ADDRESS,
        by_page: TeamPlan = BY_PAGE,
        kind: str = "status page",
    ) -> None:
        self._kind = kind
        self._addresses = Limits(db, {"free": by_address})
        self._pages = Limits(db, {"free": by_page})

    async def count(self, page_id: UUID, address: str) -> None:
        """Count an attempt. Raises Limited."""
        standing = await self._addresses.address(self._key("address", page_id, network(address)))
        if standing.admitted:
            standing = await self._pages.address(self._key("page", page_id))
        if not standing.admitted:
            raise Limited("Too many tries", retry_after=standing.retry_after_s)

    async def turn(self) -> bool:
        """Add local usage to the shared buckets."""
        more = await self._addresses.turn()
        return await self._pages.turn() or more

    async def close(self) -> None:
        await self._addresses.close()
        await self._pages.close()

    def _key(self, scope: str, page_id: UUID, text: str = "") -> bytes:
        name = f"{self._kind} {scope} {page_id} {text}"
        return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
