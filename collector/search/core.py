"""Which pages and actions of the console match a search, and how results are shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

# Words of a search that are looked at; further ones change nothing.
_MOST_WORDS = 8


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A result; *detail* is shown beside its title, *mark* is the state of a monitor or an incident.

    *at*: when an incident was raised.
    """

    title: str
    path: str
    icon: str
    detail: str = ""
    mark: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SearchSection:
    """Results of one kind, the best first."""

    title: str
    hits: Sequence[SearchHit]


def words(text: str) -> list[str]:
    """Split a search into the words that a result has to contain, in any order."""
    return text.split()[:_MOST_WORDS]


def contains(wanted: Sequence[str], text: str) -> bool:
    """Whether each of the words begins a word of *text*, in whatever case."""
    present = text.lower().split()
    return all(any(each.startswith(word.lower()) for each in present) for word in wanted)
