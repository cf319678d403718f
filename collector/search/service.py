"""Searches what a team has by name."""

from collections.abc import Sequence
from dataclasses import dataclass

from collector.platform.storage.db import Db
from collector.search import core, storage
from collector.search.storage import FoundIncident, FoundMonitor, NamedThing

_MONITORS = 8
_INCIDENTS = 5
_NAMED = 8


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The best results of a search, of each kind."""

    monitors: Sequence[FoundMonitor] = ()
    incidents: Sequence[FoundIncident] = ()
    named: Sequence[NamedThing] = ()


async def search(db: Db, team_id: int, text: str) -> SearchResults:
    """Search the team's things; an empty *text* finds its unresolved and newest incidents alone."""
    words = core.words(text)
    async with db.connection() as tx:
        incidents = await storage.incidents(tx, team_id, words, _INCIDENTS)
        if not words:
            return SearchResults(incidents=incidents)
        return SearchResults(
            await storage.monitors(tx, team_id, words, _MONITORS),
            incidents,
            await storage.named(tx, team_id, words, _NAMED),
        )
