"""The content security policy of a public page: its stylesheets, its script, its logo."""

from typing import Final

from yarl import URL

_BETWEEN: Final = set(" ;,'\"*\r\n")


def policy(logo: str | None) -> str:
    """As a header says it."""
    return f"{in_page(logo)}; frame-ancestors 'none'"


def in_page(logo: str | None) -> str:
    """As a page may say it itself."""
    origin = _origin(logo) if logo else ""
    return (
        f"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
        f"img-src 'self'{origin}; form-action 'self'; base-uri 'none'"
    )


def _origin(logo: str) -> str:
    """With a blank before it; nothing where it would say more than an origin."""
    try:
        text = str(URL(logo).origin())
    except ValueError:
        return ""
    return f" {text}" if text.isascii() and not set(text) & _BETWEEN else ""
