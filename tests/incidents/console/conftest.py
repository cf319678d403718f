"""The server that these tests ask."""

from tests.console.fixtures import (
    api,
    console,
    keyring,
    made,
    module_api,
    module_console_url,
    own_api,
    own_console,
    team,
    team_console,
)

__all__ = [
    "api",
    "console",
    "keyring",
    "made",
    "module_api",
    "module_console_url",
    "own_api",
    "own_console",
    "team",
    "team_console",
]
