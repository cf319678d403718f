"""The console that these tests open: loaded here, its fixtures are known (see tests/conftest.py)."""

from tests.console import fixtures

__all__ = ["fixtures"]
