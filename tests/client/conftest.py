"""A server for the commands over the API."""

from tests.http.fixtures import api, keyring, made

__all__ = ["api", "keyring", "made"]
