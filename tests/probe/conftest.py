"""What tests of the probe share."""

import time

import pytest

from tests.probe.web3 import standin


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    """The chains of `standin` are as old as the test: collected an hour before, they would be stale."""
    monkeypatch.setattr(standin, "START", int(time.time()))
