"""``tocsin collector``: stores results, evaluates them, notifies people and serves the API."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from collector.app import run
from collector.ports import demand_free
from shared.command import begin
from shared.loop import run as run_loop
from shared.settings import CollectorSettings, environment
from shared.workers import Workers

_WORKER = "worker"


def main(argv: list[str]) -> int:
    """Run a collector until it is stopped: one process, or several that share its ports."""
    if argv[:1] == [_WORKER]:
        return run_loop(run(begin("collector", CollectorSettings, argv[1:], _lacks), shared_ports=True))
    settings = begin("collector", CollectorSettings, argv, _lacks)
    if settings.workers == 1:
        return run_loop(run(settings))
    # Shared ports could be shared with any process.
    demand_free(settings)
    variables = environment(CollectorSettings, settings, workers="1")
    return Workers([variables] * settings.workers, "collector", _WORKER).run()


def _lacks(values: Mapping[str, Any]) -> Iterator[str]:
    """Settings that a collector requires and other commands do not."""
    if values.get("database_url", "unreadable") is None:
        yield "TOCSIN_DATABASE_URL: is required by a collector; `tocsin up` brings its own database"
        if values.get("secret_key", "unreadable") is None:
            yield "TOCSIN_SECRET_KEY: is required with TOCSIN_DATABASE_URL"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
