"""SQL that prepares the embedded server for its first use."""

from typing import Final

# Input of `postgres --single`, one statement per line.
NEW_DATABASE: Final = "CREATE DATABASE tocsin\n"
