"""A collector that is ready has loaded what it works with, and nothing that only a rare request needs."""

import re
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.fleet import fleet

pytestmark = [pytest.mark.races, pytest.mark.database]

RARE: Final = {
    "collector.demo": "fills a demonstration",
    "collector.event_openapi": "a part of the API's document",
    "collector.openapi": "the API's document",
    "collector.ops.storage.restore": "a command",
    "joserfc": "tokens of a sign-in provider",
    "probe": "the other program",
    "segno": "draws QR codes",
    "tarfile": "unpacks archives",
}


async def test_what_only_rare_requests_need_is_not_loaded(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")  # it writes a line for each module that it loads
    async with fleet(database_url, tmp_path) as made:
        made.executed = True
        collector = await made.collector()
        loaded = set(re.findall(r"^import time:.*\| +([\w.]+)$", collector.log, re.MULTILINE))

    assert "collector.app" in loaded
    assert not loaded & RARE.keys()
