"""No input of a stranger makes a parser fail otherwise than it says, hang, or take much time or memory.

``TOCSIN_TEST_FUZZ_S`` is how long each is fuzzed; without it a few hundred inputs are tried, always the same.
"""

import os
import sys
from typing import Final

import pytest

from tests.hostile import of_certificates, of_collectors, of_dialogues, of_probes, of_requests
from tests.hostile.fuzzing import Parser, fuzz

pytestmark = pytest.mark.races

SECONDS: Final = float(os.environ.get("TOCSIN_TEST_FUZZ_S", "0"))
PARSERS: Final[dict[str, Parser]] = {
    **of_probes.PARSERS,
    **of_certificates.PARSERS,
    **of_collectors.PARSERS,
    **of_requests.PARSERS,
    **of_dialogues.PARSERS,
}


@pytest.mark.timeout(SECONDS + 120)
@pytest.mark.parametrize("name", PARSERS)
async def test_any_input_is_read_or_refused_soon(name: str) -> None:
    campaign, violation = await fuzz(name, PARSERS[name], seconds=SECONDS)

    if SECONDS:
        sys.stderr.write(f"{name}: {campaign.tried} inputs, {len(campaign.reached)} steps between lines\n")
    assert violation is None, violation
