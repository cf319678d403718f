"""``tocsin probe``: with several workers, each is a probe of its own."""

import sys

from probe.app import lacks, serve
from shared.command import begin
from shared.loop import run
from shared.setting_table import address
from shared.settings import ProbeSettings, environment
from shared.workers import Workers


def main(argv: list[str]) -> int:
    settings = begin("probe", ProbeSettings, argv, lacks)
    if settings.workers == 1:
        return run(serve(settings))
    numbers = range(1, settings.workers + 1)
    return Workers([worker(settings, number) for number in numbers], "probe").run()


def worker(settings: ProbeSettings, number: int) -> dict[str, str]:
    """The variables of a worker; the first one keeps the data directory of a single probe."""
    more = {"workers": "1"}
    if number > 1:
        more["data_dir"] = str(settings.data_dir / f"worker-{number}")
        if settings.metrics_listen is not None:
            _, port = address(settings.metrics_listen)
            host = settings.metrics_listen.rpartition(":")[0]
            more["metrics_listen"] = f"{host}:{port + number - 1}"
    return environment(ProbeSettings, settings, **more)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
