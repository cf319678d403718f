"""Whatever befalls the parts, one to three faults at a time: every promise holds, and nobody has to help."""

import os
import sys
from pathlib import Path

import pytest

from tests.faults.walk import check, walk, world

MINUTES = float(os.environ.get("TOCSIN_TEST_MINUTES", "1"))
SEED = int(os.environ.get("TOCSIN_TEST_SEED", "20261125"))

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600 + MINUTES * 120)]


async def test_a_random_walk_through_faults_breaks_no_promise(tmp_path: Path) -> None:
    async with world(tmp_path, SEED) as walked:
        rounds = await walk(walked, MINUTES * 60)
        await check(walked)

    line = f"seed {SEED}: {rounds} rounds, {len(walked.log)} times one to three faults, no violation\n"
    sys.stdout.write(line)
