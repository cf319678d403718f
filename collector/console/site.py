"""The pages of the console, their permissions, and the navigation between them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from aiohttp import web

from collector.console.render import NavigationLink
from collector.http.auth import Handler
from collector.platform.access import Permission, permits

_ID: Final = re.compile(r"(?<=/)([a-z]+_[0-9a-z]{26}|\{\w+\})(?=/|$)")


@dataclass(frozen=True, slots=True)
class ConsolePage:
    """*needs*: the permission that a visitor needs; None: none, not even a session.

    *before_second_factor*: a visitor without the second factor that the team requires may use it, too.
    """

    method: str
    path: str
    view: Handler
    needs: Permission | None
    before_second_factor: bool = False


class ConsoleSite:
    """*sections*: the main navigation; *beside*: the navigation of each section, by its path."""

    __slots__ = ("_beside", "_needs", "_sections")

    def __init__(
        self,
        pages: Iterable[ConsolePage],
        sections: tuple[NavigationLink, ...],
        beside: Mapping[str, tuple[NavigationLink, ...]],
    ) -> None:
        self._needs = {(page.method, _pattern(page.path)): page.needs for page in pages}
        self._sections = sections
        self._beside = beside

    def may(self, held: Permission | None, method: str, path: str) -> bool:
        """Whether a visitor with *held* (None: no session) may use the page; False for an unknown page."""
        key = (method, _pattern(path.partition("?")[0]))
        if key not in self._needs:
            return False
        needed = self._needs[key]
        return needed is None or (held is not None and permits(held, needed))

    def sections(self, held: Permission | None, path: str) -> tuple[NavigationLink, ...]:
        """Return the main navigation for a visitor with *held* on *path*."""
        return self._seen(self._sections, held, path)

    def beside(self, held: Permission | None, path: str) -> tuple[NavigationLink, ...]:
        """Return the navigation of the section of *path*."""
        found = (links for start, links in self._beside.items() if _within(path, start))
        return self._seen(next(found, ()), held, path)

    def links(self, held: Permission | None) -> list[NavigationLink]:
        """Return every entry of all navigations that a visitor with *held* may see."""
        every = [*self._sections, *(link for links in self._beside.values() for link in links)]
        return [*self._seen(list({link.path: link for link in every}.values()), held, "")]

    def _seen(
        self, links: Iterable[NavigationLink], held: Permission | None, path: str
    ) -> tuple[NavigationLink, ...]:
        return tuple(
            replace(link, current=_within(path, link.root or link.path))
            for link in links
            if self.may(held, "GET", link.path)
        )


SITE: web.AppKey[ConsoleSite] = web.AppKey("site", ConsoleSite)


def _pattern(path: str) -> str:
    """Return the path with ``{id}`` for each id or placeholder."""
    return _ID.sub("{id}", path)


def _within(path: str, start: str) -> bool:
    return path == start or (start != "/" and path.startswith(start + "/"))
