"""All figures, one after the other: ``make bench``."""

import logging

import structlog

from tests.bench import (
    api,
    delivery,
    engine,
    fleet,
    history,
    icmp,
    idle,
    ingest,
    pings,
    probe,
    product,
    rules,
    writer,
)


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    for part in (
        engine,
        icmp,
        probe,
        writer,
        rules,
        delivery,
        api,
        history,
        fleet,
        idle,
        pings,
        ingest,
        product,
    ):
        for figure in part.run():
            print(figure, flush=True)


if __name__ == "__main__":
    main()
