"""The pages of the API's documentation: an introduction with a list of operations, and pages by subject."""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote

from collector.http.openapi import page, try_it
from collector.http.openapi.try_it import DocsReader, TryIt
from collector.platform.access import Permission

_FILES: Final = files(__package__)
_STYLE: Final = _FILES.joinpath("page.css").read_text(encoding="utf-8")
_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; script-src 'self'; base-uri 'none'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'"
)
# A page has at most 150 kB: its operations with their forms, and a menu beside them.
_LARGEST: Final = 130_000
_FIRST: Final = """curl {url}/v1/monitors \\
  -H "Authorization: Bearer $TOCSIN_TOKEN\""""


@dataclass(frozen=True, slots=True)
class _Entry:
    """An operation in the list and on its page; *words* are those that the search knows, in lower case."""

    id: str
    method: str
    path: str
    title: str
    words: str
    article: str
    try_it: TryIt | None

    def rendered(self, reader: DocsReader | None) -> str:
        """Return the operation on its page, with a form if *reader* is signed in."""
        form = self.try_it.rendered(reader) if self.try_it and reader else ""
        return self.article.replace(page.TRY_IT, form)

    @property
    def size(self) -> int:
        """How many bytes the operation takes with its form."""
        return len(self.article.encode()) + (len(self.try_it.fields.encode()) if self.try_it else 0)


@dataclass(frozen=True, slots=True)
class _Page:
    slug: str
    title: str
    about: str
    entries: list[_Entry]


@dataclass(frozen=True, slots=True)
class Scripts:
    """The addresses of the pages' scripts: one copies and searches, the other sends requests."""

    reading: str
    trying: str


class Site:
    """The documentation of a *document*; *needs*: the permission of each operation, by method and path."""

    def __init__(
        self,
        document: Mapping[str, Any],
        needs: Mapping[tuple[str, str], Permission | None],
        scripts: Scripts,
    ) -> None:
        about = document["info"]
        self._title = f"{about['title']} API"
        self._version = about["version"]
        self._url = document["servers"][0]["url"]
        self._scripts = scripts
        self._conventions = about["description"]
        self._pages = {each.slug: each for each in _pages(document, needs)}

    @property
    def subjects(self) -> list[str]:
        """The names of the pages, in their order."""
        return list(self._pages)

    def subject(self, slug: str, reader: DocsReader | None) -> str | None:
        """Return the page of a subject as HTML; None if there is no such page.

        With a signed-in *reader* it has a form for each operation that takes a token.
        """
        shown = self._pages.get(slug)
        return self._subject(shown, reader) if shown else None

    def index(self, query: str) -> str:
        """Return the introduction and the operations that have all words of *query*."""
        wanted = query.lower().split()
        sections = "".join(_section(each, wanted) for each in self._pages.values())
        none = "" if sections else "No operation matches."
        search = (
            '<form action="/v1/docs" role="search"><label for="q">Search operations</label> '
            f'<input type="search" id="q" name="q" value="{escape(query)}"> <button>Search</button></form>'
            f'<output aria-live="polite">{none}</output>'
        )
        head = (
            f'<h1>{escape(self._title)}</h1><p class="soft">Version {escape(self._version)} at '
            f'<code>{escape(self._url)}</code> &middot; <a href="/v1/openapi.json">openapi.json</a> &middot; '
            '<a href="/">Console</a></p>'
        )
        introduction = "" if query else f'<div id="introduction">{self._introduction()}</div>'
        operations = f'<h2 id="operations"><a href="#operations">Operations</a></h2>{sections}'
        return self._framed(self._title, self._menu(), head + search + introduction + operations)

    def _introduction(self) -> str:
        text = _FILES.joinpath("introduction.html").read_text(encoding="utf-8")
        codes = {"FIRST": _FIRST.format(url=self._url), "CONVENTIONS": self._conventions}
        for name, file in (("PYTHON", "verify.py"), ("NODE", "verify.mjs"), ("GO", "verify.go")):
            codes[name] = _FILES.joinpath(file).read_text(encoding="utf-8").rstrip()
        return re.sub(r"@([A-Z]+)@", lambda match: _shown(match[1], codes[match[1]]), text)

    def _subject(self, shown: _Page, reader: DocsReader | None) -> str:
        below = "".join(f'<a href="#{each.id}">{escape(each.title)}</a>' for each in shown.entries)
        head = f'<h1>{escape(shown.title)}</h1><p class="soft">{escape(shown.about)}</p>'
        if any(each.try_it for each in shown.entries):
            head += try_it.greeting(reader, quote(f"/v1/docs?subject={shown.slug}", safe=""))
        body = head + "".join(each.rendered(reader) for each in shown.entries)
        menu = self._menu(shown.slug, f'<div class="here">{below}</div>')
        return self._framed(f"{shown.title} · {self._title}", menu, body, reader)

    def _menu(self, current: str = "", below: str = "") -> str:
        links = ['<a href="/v1/docs">Introduction</a>', '<a href="/v1/docs#operations">Operations</a>']
        for each in self._pages.values():
            mark = ' aria-current="page"' if each.slug == current else ""
            links.append(f'<a href="/v1/docs?subject={each.slug}"{mark}>{escape(each.title)}</a>')
            links += [below] if mark else []
        return f'<nav aria-label="Documentation">{"".join(links)}</nav>'

    def _framed(self, title: str, menu: str, body: str, reader: DocsReader | None = None) -> str:
        head = f'<script type="module" src="{escape(self._scripts.reading)}"></script>'
        if reader is not None:
            head += f'<script type="module" src="{escape(self._scripts.trying)}"></script>'
            head += f'<meta name="csrf" content="{escape(reader.csrf)}">'
            body += try_it.CONFIRMATION
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(title)}</title><style>{_STYLE}</style>"
            f"{head}</head>"
            f"<body>{menu}<main>{body}</main></body></html>"
        )


def _shown(name: str, text: str) -> str:
    return page.words(" ".join(text.split())) if name == "CONVENTIONS" else page.copied(text)


def _section(shown: _Page, wanted: list[str]) -> str:
    """Return the operations of a page that have all *wanted* words; nothing if there are none."""
    items = "".join(
        _item(shown.slug, each) for each in shown.entries if all(word in each.words for word in wanted)
    )
    link = f'<a href="/v1/docs?subject={shown.slug}">{escape(shown.title)}</a>'
    return f'<section class="subject"><h3>{link}</h3><ul>{items}</ul></section>' if items else ""


def _item(slug: str, entry: _Entry) -> str:
    link = f"/v1/docs?subject={slug}#{entry.id}"
    call = f'<span class="m {entry.method}">{entry.method.upper()}</span> {escape(entry.path)}'
    return (
        f'<li id="{entry.id}" data-words="{escape(entry.words)}">'
        f'<a href="{link}">{escape(entry.title)}</a> <code class="soft">{call}</code></li>'
    )


def _pages(
    document: Mapping[str, Any], needs: Mapping[tuple[str, str], Permission | None]
) -> Iterator[_Page]:
    """Yield the pages of each tag: a further one where the operations are larger than a page may be."""
    for tag in document["tags"]:
        slug = tag["name"].lower().replace(" ", "-")
        parts: list[list[_Entry]] = [[]]
        size = 0
        for entry in _entries(document, needs, tag["name"]):
            size += entry.size
            if parts[-1] and size > _LARGEST:
                parts.append([])
                size = entry.size
            parts[-1].append(entry)
        for number, entries in enumerate(filter(None, parts), 1):
            further = number > 1
            title = f"{tag['name']} ({number})" if further else tag["name"]
            yield _Page(f"{slug}-{number}" if further else slug, title, tag["description"], entries)


def _entries(
    document: Mapping[str, Any], needs: Mapping[tuple[str, str], Permission | None], tag: str
) -> Iterator[_Entry]:
    """Yield the operations of *tag*, without PATCH, which equals PUT."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method != "patch" and operation["tags"][0] == tag:
                title = operation["summary"]
                yield _Entry(
                    id=operation["operationId"],
                    method=method,
                    path=path,
                    title=title,
                    words=f"{title} {method} {path} {operation['operationId']} {tag}".lower(),
                    article=page.article(document, method, path, operation),
                    try_it=try_it.of(method, path, operation, needs[method.upper(), path]),
                )
