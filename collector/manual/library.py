"""The pages of docs/ as the product shows them: titles, addresses, order, and what searches look through.

A wheel carries the pages in its own folder; a clone has them where they are written.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Final

from collector.manual.core import markdown
from collector.manual.core.markdown import PageSection
from collector.manual.core.search import SearchedSection, SearchIndex

ADDRESS: Final = "/docs"
_PACKED: Final = Path(__file__).parent / "pages"
_CLONE: Final = Path(__file__).parents[2]
_CONTENTS: Final = "docs/README.md"
# Further pages of the repository, and their addresses: docs/security.md is another page.
BESIDE: Final[Mapping[str, str]] = {
    "CHANGELOG.md": f"{ADDRESS}/changelog",
    "CONTRIBUTING.md": f"{ADDRESS}/contributing",
    "SECURITY.md": f"{ADDRESS}/reporting-a-vulnerability",
}


@dataclass(frozen=True, slots=True)
class ManualPage:
    """A page; *file*: its path in the repository, *markdown*: its text, whose links are addresses."""

    file: str
    address: str
    sections: tuple[PageSection, ...]
    markdown: str

    @property
    def title(self) -> str:
        """The page's first heading."""
        return self.sections[0].title


@dataclass(frozen=True, slots=True)
class PageGroup:
    """Pages under a heading of the contents, in their order."""

    title: str
    pages: tuple[ManualPage, ...]


@dataclass(frozen=True, slots=True)
class Manual:
    """All pages by their addresses; *groups*: those that the contents name."""

    pages: Mapping[str, ManualPage]
    groups: tuple[PageGroup, ...]
    index: SearchIndex

    def neighbours(self, page: ManualPage) -> tuple[ManualPage | None, ManualPage | None]:
        """Return the pages before and after *page* in the order of the contents."""
        order = [each for group in self.groups for each in group.pages]
        if page not in order:
            return None, None
        at = order.index(page)
        return order[at - 1] if at else None, order[at + 1] if at + 1 < len(order) else None


@cache
def manual() -> Manual:
    """Read and render all pages; it takes a tenth of a second, once."""
    return read(_PACKED if _PACKED.is_dir() else _CLONE)


def read(root: Path) -> Manual:
    """Render the pages below *root*, which is laid out as the repository."""
    files = [*BESIDE, *sorted(str(path.relative_to(root)) for path in (root / "docs").rglob("*.md"))]
    texts = {file: (root / file).read_text(encoding="utf-8") for file in files}
    pages = [_page(file, text, frozenset(files)) for file, text in texts.items()]
    by_address = {page.address: page for page in pages}
    groups = tuple(_groups(texts[_CONTENTS], by_address))
    # What the contents name comes first, in their order.
    order = dict.fromkeys([*(page.address for group in groups for page in group.pages), *by_address])
    searched = [
        SearchedSection(f"{page.address}#{section.anchor}", page.title, section.title, section.words)
        for page in map(by_address.__getitem__, order)
        for section in page.sections
    ]
    return Manual(by_address, groups, SearchIndex(searched))


def address(file: str) -> str:
    """Return the address of a page: ``docs/monitors/http.md`` is at ``/docs/monitors/http``."""
    if file in BESIDE:
        return BESIDE[file]
    path = PurePosixPath(file.removeprefix("docs/").lower()).with_suffix("")
    folder = path.parent if path.name == "readme" else path
    return ADDRESS if str(folder) == "." else f"{ADDRESS}/{folder}"


def followed(file: str, target: str, files: frozenset[str]) -> tuple[str, str] | None:
    """Return file and anchor that a link of the page *file* leads to; None for what is no page."""
    path, _, anchor = target.partition("#")
    to = normpath(str(PurePosixPath(file).parent / path)) if path else file
    return (to, anchor) if to in files else None


def _page(file: str, text: str, files: frozenset[str]) -> ManualPage:
    def follow(target: str) -> str | None:
        if target.startswith("/"):
            return target
        to_page = followed(file, target, files)
        if to_page is None:
            return None
        to, anchor = to_page
        start = "" if to == file else address(to)
        return f"{start}#{anchor}" if anchor else start or address(to)

    return ManualPage(
        file, address(file), tuple(markdown.sections(text, follow)), markdown.relinked(text, follow)
    )


def _groups(contents: str, pages: Mapping[str, ManualPage]) -> Iterator[PageGroup]:
    """Yield the groups of the contents: its second headings, with the pages that each links to."""
    known = frozenset(page.file for page in pages.values())
    seen: set[str] = set()
    for part in contents.split("\n## ")[1:]:
        title, _, body = part.partition("\n")
        linked = (followed(_CONTENTS, target, known) for _, target in markdown.links(body))
        files = [to for to, anchor in filter(None, linked) if not anchor and to not in seen]
        seen.update(files)
        yield PageGroup(title.strip(), tuple(pages[address(file)] for file in dict.fromkeys(files)))
