"""Conditional requests: a resource's entity tag is its revision in quotes."""

import re
from dataclasses import dataclass, field

from aiohttp import hdrs, web

from shared.errors import Invalid

# A tag, or nothing, up to the comma or the end; a tag may contain commas.
_ELEMENT = re.compile(r'[ \t]*(?:(W/)?"([^\x00-\x20"\x7f]*)"[ \t]*)?(?:,|$)')


@dataclass(frozen=True, slots=True)
class _Tags:
    """The tags of a header; *anything*: it is ``*``."""

    anything: bool
    strong: list[str] = field(default_factory=list)
    weak: list[str] = field(default_factory=list)


def tagged(revision: int) -> dict[str, str]:
    """Return the header with the tag of *revision*."""
    return {hdrs.ETAG: f'"{revision}"'}


def shown(revision: int) -> dict[str, str]:
    """Return the headers of a read: its state changes within a revision, so caches must not store it."""
    return {**tagged(revision), hdrs.CACHE_CONTROL: "no-store"}


def only(request: web.Request) -> frozenset[str] | None:
    """Return the revisions that If-Match allows, None for all; a weak tag allows none. Raises Invalid."""
    tags = _tags(request, hdrs.IF_MATCH)
    return None if tags is None or tags.anything else frozenset(tags.strong)


def asks(request: web.Request) -> bool:
    """Whether the request has If-None-Match."""
    return hdrs.IF_NONE_MATCH in request.headers


def unchanged(request: web.Request, revision: int) -> web.Response | None:
    """Return 304 if If-None-Match names *revision*, weak or strong. Raises Invalid."""
    tags = _tags(request, hdrs.IF_NONE_MATCH)
    if tags and (tags.anything or str(revision) in (*tags.strong, *tags.weak)):
        return web.Response(status=304, headers=shown(revision))
    return None


def _tags(request: web.Request, name: str) -> _Tags | None:
    if name not in request.headers:
        return None
    value = ",".join(request.headers.getall(name)).strip()
    tags = _Tags(anything=value == "*")
    if not tags.anything:
        _read(value, name, tags)
    return tags


def _read(value: str, name: str, tags: _Tags) -> None:
    at = 0
    while at < len(value):
        match = _ELEMENT.match(value, at)
        if match is None:
            raise _malformed(name)
        if match[2] is not None:
            (tags.weak if match[1] else tags.strong).append(match[2])
        at = match.end()
    if not (tags.strong or tags.weak):
        raise _malformed(name)


def _malformed(name: str) -> Invalid:
    return Invalid({str(name): 'must be * or entity tags in quotes, as "3"'})
