"""web3.py, which reads the same logs in its own way.

One of its libraries lifts the process's bound on recursion, and what other tests send too deep would then end
the process: the bound is put back.
"""

import sys

_BOUND = sys.getrecursionlimit()

from web3 import Web3  # noqa: E402 - the bound is read before
from web3._utils.events import get_event_data  # noqa: E402
from web3.logs import DISCARD  # noqa: E402

sys.setrecursionlimit(_BOUND)

__all__ = ["DISCARD", "Web3", "get_event_data"]
