"""The manual as plain text for language models: llms.txt with links, llms-full.txt with everything."""

from typing import Final

from collector.manual.core.markdown import relinked
from collector.manual.library import ADDRESS, Manual, ManualPage

_API: Final = """
## API

- [OpenAPI document]({url}/v1/openapi.json): every operation, for programs
"""


def overview(manual: Manual, public_url: str) -> str:
    """Return the contents with the URL of each page's Markdown, and of the API's description."""
    contents = relinked(manual.pages[ADDRESS].markdown, lambda target: f"{public_url}{target}.md")
    return contents + _API.format(url=public_url)


def whole(manual: Manual, public_url: str) -> str:
    """Return the Markdown of all pages that the contents name, with whole URLs as links."""
    return "\n".join(_absolute(page, public_url) for group in manual.groups for page in group.pages)


def _absolute(page: ManualPage, public_url: str) -> str:
    def absolute(target: str) -> str:
        base = page.address if target.startswith("#") else ""
        return f"{public_url}{base}{target}"

    return relinked(page.markdown, absolute)
