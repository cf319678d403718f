"""Checks over HTTP that only libcurl can run, as the tests of them ask for one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.http import Http
from shared.results import Outcome


async def check(
    url: str,
    timeout_s: float = 5.0,
    *,
    ca_file: Path | None = None,
    nameservers: Sequence[str] = (),
    allow_private: bool = True,
    **config: Any,
) -> Outcome:
    """By an engine of its own."""
    kind = Http(url=url, **config)
    assert kind.faults() == {}
    net = Net(ca_file=ca_file, nameservers=nameservers, allow_private=allow_private)
    try:
        return (await run(CHECKS["http"](kind), net, timeout_s)).outcome
    finally:
        net.close()
