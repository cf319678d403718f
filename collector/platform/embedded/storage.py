"""What the embedded server is told before it serves for the first time."""

from typing import Final

# Read by `postgres --single`, a line a statement.
NEW_DATABASE: Final = "CREATE DATABASE tocsin\n"
