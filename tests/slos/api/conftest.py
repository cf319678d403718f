"""The server that these tests ask."""

from tests.http.fixtures import api, keyring, made, module_api, own_api, team

__all__ = ["api", "keyring", "made", "module_api", "own_api", "team"]
