"""The container's health: exit status 0 while the collector, or else the probe, that runs in it answers."""

import os
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path


def main(settings: Mapping[str, str]) -> int:
    """*settings* say where Tocsin listens in this container; the first process says which program runs."""
    probe = b"probe" in Path("/proc/1/cmdline").read_bytes().split(b"\0")
    url = f"http://{settings['TOCSIN_METRICS_LISTEN' if probe else 'TOCSIN_HTTP_LISTEN']}/healthz"
    near = url.replace("0.0.0.0", "127.0.0.1", 1).replace("[::]", "[::1]", 1)  # noqa: S104 - not bound to
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(near, timeout=4) as answer:
            return int(answer.status != 200)
    except OSError:
        return 1


if __name__ == "__main__":
    sys.exit(main(os.environ))
