"""The manual as plain text for language models: llms.txt with links, llms-full.txt with everything."""

from collections.abc import Iterator

from collector.manual.core.markdown import relinked
from collector.manual.library import ADDRESS, Manual, ManualPage


def overview(manual: Manual, public_url: str) -> str:
    """Return the titles of all pages, each with the URL of its Markdown."""
    return "\n".join(_overview(manual, public_url)) + "\n"


def whole(manual: Manual, public_url: str) -> str:
    """Return the Markdown of all pages that the contents name, with whole URLs as links."""
    pages = (page for group in manual.groups for page in group.pages)
    return "\n".join(_whole(page, public_url) for page in pages)


def _overview(manual: Manual, public_url: str) -> Iterator[str]:
    home = manual.pages[ADDRESS]
    yield f"# {home.title}"
    yield ""
    yield f"> {home.sections[0].words}"
    for group in manual.groups:
        yield ""
        yield f"## {group.title}"
        yield ""
        for page in group.pages:
            yield f"- [{page.title}]({public_url}{page.address}.md)"
    yield ""
    yield "## API"
    yield ""
    yield f"- [OpenAPI document]({public_url}/v1/openapi.json)"


def _whole(page: ManualPage, public_url: str) -> str:
    def absolute(target: str) -> str:
        base = page.address if target.startswith("#") else ""
        return f"{public_url}{base}{target}"

    return relinked(page.markdown, absolute)
