"""``tocsin probe``: settings in, exit status out."""

import sys

from probe.app import serve
from shared.command import begin
from shared.loop import run
from shared.settings import ProbeSettings


def main(argv: list[str]) -> int:
    return run(serve(begin(ProbeSettings, argv)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
