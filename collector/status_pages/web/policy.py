"""The content security policy of a public page: its stylesheets, its script, its logo."""

from typing import Final

from yarl import URL

_BETWEEN: Final = set(" ;,'\"*\r\n")


def policy(logo: str | None) -> str:
    """The policy as a header value."""
    return f"{in_page(logo)}; frame-ancestors 'none'"


def in_page(logo: str | None) -> str:
    """The policy as a meta element of a page."""
    origin = _origin(logo) if logo else ""
    return (
        f"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
        f"img-src 'self'{origin}; form-action 'self'; base-uri 'none'"
    )


def _origin(logo: str) -> str:
    """The logo's origin after a blank; empty if it could add more than an origin to the policy."""
    try:
        text = str(URL(logo).origin())
    except ValueError:
        return ""
    return f" {text}" if text.isascii() and not set(text) & _BETWEEN else ""
