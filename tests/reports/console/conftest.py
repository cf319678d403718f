"""The server that these tests ask."""

from tests.console.fixtures import api, console, keyring, made

__all__ = ["api", "console", "keyring", "made"]
