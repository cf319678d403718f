"""SQL that prepares the embedded server for its first use."""

from typing import Final

# Read by `postgres --single`, a line a statement.
NEW_DATABASE: Final = "CREATE DATABASE tocsin\n"
