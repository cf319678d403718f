"""The server that these tests ask."""

from tests.http.fixtures import module_api

__all__ = ["module_api"]
