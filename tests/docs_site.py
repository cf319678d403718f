"""Builds docs/ as a site into var/site: ``make docs``. Fails on a warning, a dead link or a foreign address.

The pages are copied first, each to the place of its address, so that links to the changelog stay within the
site. The navigation is the contents of docs/README.md.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit

from collector.manual.core.markdown import relinked
from collector.manual.library import ADDRESS, Manual, ManualPage, manual
from shared import __version__

_ROOT: Final = Path(__file__).parent.parent
_PLACE: Final = _ROOT / "var" / "site"
_BASE: Final = "https://docs.example.com/"


class _Addresses(HTMLParser):
    """Collects what a page links to, what a browser loads for it, and its anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the addresses of an element."""
        values = {name: value for name, value in attrs if value}
        if "id" in values:
            self.anchors.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") not in {"canonical", "alternate", "prev", "next"}:
            self.loaded.append(values.get("href", ""))
        elif "src" in values:
            self.loaded.append(values["src"])


def main() -> int:
    """Build the site and check it; print what is wrong."""
    whole = manual()
    pages, site = _PLACE / "pages", _PLACE / "site"
    shutil.rmtree(_PLACE, ignore_errors=True)
    for page in whole.pages.values():
        file = pages / place(page)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_linked(page, whole))
    configuration = _PLACE / "zensical.toml"
    configuration.write_text(_configuration(whole))
    built = subprocess.run(
        [Path(sys.executable).parent / "zensical", "build", "--strict", "--config-file", configuration],
        cwd=_PLACE, capture_output=True, text=True, check=False,
    )  # fmt: skip
    output = built.stdout + built.stderr
    wrong = [output] if built.returncode or "warning" in output.lower() else list(faults(site))
    sys.stdout.write("\n".join([*wrong, f"{len(list(site.rglob('*.html')))} pages in {site}", ""]))
    return 1 if wrong else 0


def place(page: ManualPage) -> Path:
    """Return the file of a page; pages that have others below them are the index of their folder."""
    name = page.address.removeprefix(ADDRESS).strip("/")
    return Path(name) / "index.md" if page.file.endswith("README.md") else Path(f"{name}.md")


def _linked(page: ManualPage, whole: Manual) -> str:
    """Return the Markdown of a page with links to the files of the others."""
    depth = len(place(page).parts) - 1

    def follow(target: str) -> str:
        address, _, anchor = target.partition("#")
        if not address:
            return target
        file = "../" * depth + place(whole.pages[address]).as_posix()
        return f"{file}#{anchor}" if anchor else file

    return relinked(page.markdown, follow)


def _configuration(whole: Manual) -> str:
    """Return the generator's settings: no script, font or picture from elsewhere."""
    groups = [
        {group.title: [{page.title: place(page).as_posix()} for page in group.pages]}
        for group in whole.groups
    ]
    navigation = ", ".join(_inline(each) for each in [{"Tocsin": "index.md"}, *groups])
    return f"""\
[project]
site_name = "Tocsin {__version__}"
site_url = "{_BASE}"
docs_dir = "pages"
site_dir = "site"
nav = [{navigation}]

[project.theme]
font = false
language = "en"
features = ["navigation.sections", "navigation.footer", "content.code.copy", "search.highlight"]

[project.markdown_extensions.toc]
permalink = true

[project.markdown_extensions.tables]
[project.markdown_extensions.pymdownx.superfences]
[project.markdown_extensions.pymdownx.highlight]
"""


def _inline(entry: object) -> str:
    """Write an entry of the navigation as TOML."""
    if isinstance(entry, dict):
        return f"{{{', '.join(f'{json.dumps(name)} = {_inline(value)}' for name, value in entry.items())}}}"
    if isinstance(entry, list):
        return f"[{', '.join(map(_inline, entry))}]"
    return json.dumps(entry)


def faults(site: Path) -> Iterator[str]:
    """Yield links that lead nowhere, and whatever a browser would ask of another host."""
    read = {file: _Addresses() for file in site.rglob("*.html")}
    for file, addresses in read.items():
        addresses.feed(file.read_text())
    for file, addresses in read.items():
        here = urljoin(_BASE, file.relative_to(site).as_posix())
        for link in (*addresses.links, *addresses.loaded):
            to = urlsplit(urljoin(here, link))
            if to.hostname != urlsplit(_BASE).hostname:
                if link in addresses.loaded:
                    yield f"{file.relative_to(site)} loads {link}"
                continue
            target = site / unquote(to.path).lstrip("/")
            target = target / "index.html" if target.is_dir() else target
            anchors = read[target].anchors if target in read else set()
            if not target.is_file() or (
                to.fragment and target in read and unquote(to.fragment) not in anchors
            ):
                yield f"{file.relative_to(site)} links to {link}"


if __name__ == "__main__":
    sys.exit(main())
