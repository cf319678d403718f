"""Prints the result of a simulated month: ``python -m tests.simulation [SEED] [MONITORS] [DAYS]``."""

import sys

from tests.simulation.run import run
from tests.simulation.script import written

_DEFAULTS = (1, 1000, 30)


def main(argv: list[str]) -> None:
    given = [int(text) for text in argv if text.isdigit()]
    seed, monitors, days = [*given, *_DEFAULTS[len(given) :]]
    tally = run(
        written(seed, days, blind="cut" not in argv, partial=0.2 if "partial" in argv else 0.0), monitors
    )
    strange = map(str, (*tally.false, *tally.missed, *tally.again, *tally.wrong))
    sys.stdout.write("\n".join([*tally.lines(), *strange]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
