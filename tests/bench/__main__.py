"""All figures, one after the other: ``make bench``."""

import logging

import structlog

from tests.bench import api, delivery, engine, history, probe, product, writer


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    for part in (engine, probe, writer, delivery, api, history, product):
        for figure in part.run():
            print(figure, flush=True)


if __name__ == "__main__":
    main()
