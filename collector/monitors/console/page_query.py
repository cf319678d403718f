"""The query of a monitor's page: links and forms that change a part of it and keep the rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

_NAMES: Final = ("range", "from", "to", "lines", "by", "compare", "status", "location", "checks")


@dataclass(frozen=True, slots=True)
class PageQuery:
    """*values*: the known, filled-in names of the page's query."""

    values: Mapping[str, str]

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "PageQuery":
        return cls({name: query[name] for name in _NAMES if query.get(name)})

    def link(self, **changes: str) -> str:
        """Return a relative link to the page with *changes*; an empty text removes a name."""
        kept = {name: text for name, text in {**self.values, **changes}.items() if text}
        return f"?{urlencode(kept)}"

    def window(self, **window: str) -> str:
        """Return a relative link to another window of time, which *window* names."""
        return self.link(**{"range": "", "from": "", "to": "", "checks": "", **window})

    def but(self, *names: str) -> list[tuple[str, str]]:
        """Return what a form has to send along, apart from the *names* of its own fields."""
        return [(name, text) for name, text in self.values.items() if name not in names]
