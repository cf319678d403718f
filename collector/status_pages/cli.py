"""``tocsin status-page export SLUG DIR``: a copy of a status page, as files for any web host."""

import argparse
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from collector.platform.interruptible import run
from collector.platform.operator import ground, operators
from collector.status_pages.core.status_page import is_slug
from collector.status_pages.service import view as status_pages_view
from collector.status_pages.service.view import PageView
from collector.status_pages.web import copy
from collector.status_pages.web.words import LANGUAGES
from shared.command import begin_with
from shared.errors import Conflict, NotFound
from shared.kinds.http import is_url
from shared.settings import CopySettings

_LARGEST: Final = 1 << 20
_PICTURES: Final = {".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"}


def main(argv: list[str]) -> int:
    """Write the files; they replace those of an earlier copy, each one atomically."""
    own, settings = begin_with(_parser(), CopySettings, argv)
    view = run(_view(settings, own.slug))
    if view.page.visibility == "private" and not own.private:
        raise Conflict(f"{own.slug} is private, and a copy asks for no password; --private makes it anyway")
    files = copy.files(view, own.url or _usual(view, settings), LANGUAGES[own.language], own.logo)
    try:
        put(own.directory, files)
    except OSError as error:
        raise Conflict(f"{own.directory} cannot be written: {error.strerror or error}") from error
    print(f"{len(files)} files in {own.directory}")  # noqa: T201 - the answer
    return 0


def put(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write all files before renaming the first, so that a full disk leaves the old copy unchanged."""
    directory.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(prefix=".status-page-", dir=directory))
    try:
        for name, content in files.items():
            path = staged / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for name in files:
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (staged / name).replace(directory / name)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _parser() -> argparse.ArgumentParser:
    usage = "tocsin status-page export SLUG DIRECTORY [--url URL] [--language CODE] [--logo FILE] [--private]"
    parser = argparse.ArgumentParser(prog="tocsin status-page", usage=usage, allow_abbrev=False)
    parser.add_argument("action", choices=["export"])
    parser.add_argument("slug", metavar="SLUG", help="slug of the page")
    parser.add_argument("directory", metavar="DIRECTORY", type=Path, help="target directory")
    parser.add_argument("--url", type=_url, help="URL of the copy, for links in its feeds")
    parser.add_argument(
        "--language", choices=sorted(LANGUAGES), default="en", help="language of the fixed texts"
    )
    parser.add_argument("--logo", type=_logo, metavar="FILE", help="an image to copy as the logo")
    parser.add_argument("--private", action="store_true", help="copy a private page, too")
    return parser


async def _view(settings: CopySettings, slug: str) -> PageView:
    """Load the page. Raises NotFound."""
    async with ground(operators(settings)) as here:
        view = await status_pages_view.load(here.db, "slug", slug, here.now) if is_slug(slug) else None
    if view is None:
        raise NotFound(f"there is no status page {slug}")
    return view


def _usual(view: PageView, settings: CopySettings) -> str:
    """The page's own URL; the copy may be served there instead."""
    if view.page.domain is not None:
        return f"https://{view.page.domain}"
    return f"{settings.public_url}/status/{view.page.slug}"


def _url(text: str) -> str:
    if not is_url(text):
        raise ValueError("must be an http or https URL")
    return text


def _logo(text: str) -> tuple[str, bytes]:
    path = Path(text)
    kind = path.suffix.lower()
    if kind not in _PICTURES:
        raise ValueError(f"must end in one of {', '.join(sorted(_PICTURES))}")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    if len(content) > _LARGEST:
        raise ValueError("must be 1 MiB at most")
    return f"logo{kind}", content
