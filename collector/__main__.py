"""``tocsin collector``: takes results, decides, tells, and answers the API."""

import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from collector.app import run
from shared.command import begin
from shared.errors import CannotStart
from shared.loop import run as run_loop
from shared.setting_table import address
from shared.settings import CollectorSettings, environment
from shared.workers import Workers

_WORKER = "worker"


def main(argv: list[str]) -> int:
    """Run a collector until it is told to stop: one process, or several that share its ports."""
    if argv[:1] == [_WORKER]:
        return run_loop(run(begin("collector", CollectorSettings, argv[1:], _lacks), shared_ports=True))
    settings = begin("collector", CollectorSettings, argv, _lacks)
    if settings.workers == 1:
        return run_loop(run(settings))
    for listen in (settings.http_listen, settings.grpc_listen):
        _demand_free(listen)
    variables = environment(CollectorSettings, settings, workers="1")
    return Workers([variables] * settings.workers, "collector", _WORKER).run()


def _lacks(values: Mapping[str, Any]) -> Iterator[str]:
    """What a collector needs and others do without."""
    if values.get("database_url", "unreadable") is None:
        yield "TOCSIN_DATABASE_URL: is required by a collector; `tocsin up` brings its own database"
        if values.get("secret_key", "unreadable") is None:
            yield "TOCSIN_SECRET_KEY: is required with TOCSIN_DATABASE_URL"


def _demand_free(listen: str) -> None:
    """Ports that are shared could be shared with anybody. Raises CannotStart for one that is taken."""
    host, port = address(listen)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with closing(socket.socket(family)) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port))
        except OSError as error:
            raise CannotStart(f"cannot listen on {listen}: {error.strerror or error}") from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
