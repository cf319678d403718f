"""The content security policy of a public page: its stylesheets, its script, its pictures."""

from collections.abc import Sequence
from typing import Final

from yarl import URL

_BETWEEN: Final = set(" ;,'\"*\r\n")


def policy(pictures: Sequence[str]) -> str:
    """The policy of a page with these *pictures*, as a header value."""
    return f"{in_page(pictures)}; frame-ancestors 'none'"


def in_page(pictures: Sequence[str]) -> str:
    """The policy of a page with these *pictures*, as a meta element of the page."""
    origins = "".join(dict.fromkeys(_origin(url) for url in pictures))
    return (
        f"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
        f"img-src 'self'{origins}; form-action 'self'; base-uri 'none'"
    )


def _origin(url: str) -> str:
    """The URL's origin after a blank; empty if it could add more than an origin to the policy."""
    try:
        text = str(URL(url).origin())
    except ValueError:
        return ""
    return f" {text}" if text.isascii() and not set(text) & _BETWEEN else ""
