"""``tocsin collector``: takes results, decides, tells, and answers the API."""

import sys

from collector.app import run
from shared.command import begin
from shared.loop import run as run_loop
from shared.settings import CollectorSettings


def main(argv: list[str]) -> int:
    """Run a collector until it is told to stop."""
    return run_loop(run(begin(CollectorSettings, argv)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
