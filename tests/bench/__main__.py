"""All figures, one after the other: ``make bench``."""

import logging

import structlog

from tests.bench import (
    added,
    api,
    api_latency,
    apply,
    console,
    curl,
    delivery,
    engine,
    fleet,
    history,
    hostile,
    icmp,
    idle,
    ingest,
    page_mails,
    pings,
    probe,
    product,
    rules,
    scrape,
    status_page,
    storm,
    writer,
)


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    for part in (
        engine,
        curl,
        icmp,
        added,
        probe,
        writer,
        rules,
        storm,
        delivery,
        page_mails,
        api,
        api_latency,
        apply,
        console,
        history,
        fleet,
        idle,
        pings,
        scrape,
        status_page,
        ingest,
        product,
        hostile,
    ):
        for figure in part.run():
            print(figure, flush=True)


if __name__ == "__main__":
    main()
