"""The guard of a probe: however an inner address is written or come to, nobody there is connected to."""

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.http import Http
from shared.kinds.tcp import Tcp
from shared.results import Status
from tests.probe import targets
from tests.probe.targets import target

SPELLINGS = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "127.000.000.001",
    "127.0.0.1.",
    "0",
    "0.0.0.0",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "ip6-localhost",
    "::1",
    "::",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "fe80::1%lo",
    "①②⑦.⓪.⓪.①",
]


def bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


@pytest.mark.parametrize("host", SPELLINGS)
@pytest.mark.parametrize("type_", ["http", "tcp"])
async def test_no_spelling_of_an_inner_address_is_a_way_around(host: str, type_: str) -> None:
    net = Net(allow_private=False)
    with target(targets.stall) as server:
        kinds = {
            "http": Http(url=f"http://{bracketed(host)}:{server.port}/"),
            "tcp": Tcp(host=host, port=server.port),
        }
        outcome = (await run(CHECKS[type_](kinds[type_]), net, 2.0)).outcome
        accepted = server.accepted
    net.close()

    assert outcome.status is not Status.UP
    assert accepted == 0


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "2852039166", "0xa9fea9fe", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe"]
)
async def test_no_spelling_of_the_metadata_is_a_way_around_even_where_private_ones_may_be(host: str) -> None:
    net = Net(allow_private=True)
    outcome = (await run(CHECKS["tcp"](Tcp(host=host, port=80)), net, 2.0)).outcome
    net.close()

    assert outcome.status is not Status.UP
    assert outcome.error.startswith("dns: ") or outcome.error.endswith("which is never allowed")
