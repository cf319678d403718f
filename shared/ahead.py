"""Loads the program of a verb before its settings are known; they follow on stdin, as a JSON object.

Run as a module, by `children.load`: loading takes longer than all else that a start needs.
"""

import gc
import json
import sys
from contextlib import suppress

from shared import command
from shared.settings import quiet_libraries, replace_environment


def main(verb: str) -> int:
    """Load the program, wait for its environment, and run it; return its exit status.

    An empty stdin means that it is not wanted any more.
    """
    quiet_libraries()
    with suppress(ImportError):  # the command reports it
        command.load(verb)
    # There is time for it now; what was loaded stays, and no later collection has to look at it.
    gc.collect()
    gc.freeze()
    variables = sys.stdin.buffer.read()
    if not variables:
        return 0
    replace_environment(json.loads(variables))
    return command.main([verb])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
