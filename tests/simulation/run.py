"""A month of many monitors, by as many processes as there are processors."""

import os
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context

from tests.simulation.script import Script
from tests.simulation.tally import Tally, lived

_SHARES = 16


def run(script: Script, monitors: int) -> Tally:
    """Live through *script* with *monitors* of them."""
    shares = [range(first, monitors + 1, _SHARES) for first in range(1, _SHARES + 1)]
    tally = Tally()
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for part in pool.map(lived, repeat(script), shares):
            tally.add(part)
    return tally
