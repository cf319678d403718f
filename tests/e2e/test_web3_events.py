"""Contract events while processes die and chains fork, from outside: none is missed or notified twice."""

import asyncio
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from probe.spool.segments import Sealed, pack, scan
from shared.findings import Findings
from shared.wire.convert import decode
from tests.e2e.chains import Stage, amounts, chain, of_events, plain, stage, word
from tests.e2e.fleet import Part
from tests.e2e.product import eventually
from tests.probe.web3.chain import Chain, calldata

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(180),
    # A client that hangs up while it is accepted leaves asyncio's servers a socket that nobody closes.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

_THREE_DAYS_US = 73 * 3600 * 1_000_000


async def _tells(made: Stage, monitor: str, count: int) -> None:
    """The numbers up to *count* were notified, in their order, each once."""

    async def all_of_them() -> bool:
        return len(amounts(made.told(monitor))) >= count

    try:
        await eventually(all_of_them, timeout_s=60)
    except TimeoutError:
        raise AssertionError(f"told {amounts(made.told(monitor))}, not all {count}") from None
    assert amounts(made.told(monitor)) == [str(number) for number in range(count)]


async def _connected(probe: Part, before: int) -> bool:
    return probe.log.count('"message": "connected"') > before


def _offline(here: Chain, zoo: str, first: int, count: int) -> None:
    """For many blocks nobody looks, and now and then something is emitted."""
    for number in range(first, first + count):
        here.mine(100)
        plain(zoo, here, [number])


async def test_no_event_is_missed_or_told_twice_over_the_deaths_of_probes_and_a_move(
    database_url: str, tmp_path: Path
) -> None:
    with chain() as here:
        zoo = here.deploy("Zoo")
        async with stage(database_url, tmp_path, "eu", "eu", "us") as made:
            alone = await made.monitor("web3_contract_event", of_events(here, zoo))
            twofold = await made.monitor("web3_contract_event", of_events(here, zoo), "eu", "us")
            first, second, _ = made.fleet.probes
            plain(zoo, here, range(3))
            for monitor in (alone, twofold):
                await _tells(made, monitor, 3)

            first.send(signal.SIGKILL)
            plain(zoo, here, range(3, 6))
            second.send(signal.SIGKILL)
            plain(zoo, here, range(6, 8))
            first.start()
            for monitor in (alone, twofold):
                await _tells(made, monitor, 8)

            first.send(signal.SIGKILL)
            _offline(here, zoo, 8, 5)
            second.start()
            for monitor in (alone, twofold):
                await _tells(made, monitor, 13)

            came = first.log.count('"message": "connected"')
            first.start()
            await eventually(lambda: _connected(first, came))
            second.send(signal.SIGKILL)
            plain(zoo, here, [13])
            await _tells(made, alone, 14)
            status, _ = await made.fleet.call("PUT", f"/v1/monitors/{alone}", {"locations": ["us"]})
            plain(zoo, here, range(14, 16))
            assert status == 200
            for monitor in (alone, twofold):
                await _tells(made, monitor, 16)
                await made.checked(monitor)
                await _tells(made, monitor, 16)
            made.assert_signed()


async def test_what_lies_between_finding_and_telling_when_processes_die_is_told_once_later(
    database_url: str, tmp_path: Path
) -> None:
    with chain() as here:
        zoo = here.deploy("Zoo")
        async with stage(database_url, tmp_path, "eu", "us") as made:
            monitor = await made.monitor("web3_contract_event", of_events(here, zoo), "eu", "us")
            [collector] = made.fleet.collectors
            for first, wait_s in ((0, 0.3), (20, 0.9)):
                plain(zoo, here, range(first, first + 20))
                await asyncio.sleep(wait_s)
                collector.send(signal.SIGKILL)
                collector.start()
                await made.fleet.ready(collector)
                await _tells(made, monitor, first + 20)

            collector.send(signal.SIGKILL)
            plain(zoo, here, range(40, 50))
            for probe in made.fleet.probes:
                await eventually(lambda probe=probe: _found(probe, 49))
                probe.send(signal.SIGKILL)
            plain(zoo, here, range(50, 60))
            collector.start()
            for probe in made.fleet.probes:
                probe.start()
            await made.fleet.ready(collector)
            await _tells(made, monitor, 60)
            await made.checked(monitor)
            await _tells(made, monitor, 60)


async def _found(probe: Part, number: int) -> bool:
    """Does the event of that number lie in its spool?"""
    batches = (decode(record.data) for path in _segments(probe) for record in _records(path))
    found = (finding for batch in batches for some in batch.found.values() for finding in some)
    return any(finding.found is Findings.LOG and f'"{number}"'.encode() in finding.data for finding in found)


def _segments(probe: Part) -> list[Path]:
    return sorted(probe.home.rglob("*.seg"))


def _records(path: Path) -> Iterator[Sealed]:
    return (record for record in scan(path.read_bytes()) if isinstance(record, Sealed))


def _outlived(probe: Part) -> bytes:
    """Its spool is from three days ago; the newest checkpoint in it."""
    newest = b""
    for path in _segments(probe):
        records = list(_records(path))
        for record in records:
            newest = max(decode(record.data).state.items(), default=(0, newest))[1]
        aged = [replace(record, wall_us=record.wall_us - _THREE_DAYS_US) for record in records]
        path.write_bytes(b"".join(map(pack, aged)))
    return newest


async def test_what_a_spool_could_not_keep_until_a_collector_came_back_is_told_all_the_same(
    database_url: str, tmp_path: Path
) -> None:
    """Though newer results had overtaken it, so that the checkpoint that is kept lies behind it."""
    with chain() as here:
        zoo = here.deploy("Zoo")
        async with stage(database_url, tmp_path, "eu") as made:
            monitor = await made.monitor("web3_contract_event", of_events(here, zoo))
            [collector], [probe] = made.fleet.collectors, made.fleet.probes
            plain(zoo, here, range(2))
            await _tells(made, monitor, 2)
            collector.send(signal.SIGKILL)
            plain(zoo, here, range(2, 5))
            await eventually(lambda: _found(probe, 4))
            probe.send(signal.SIGKILL)
            newest = _outlived(probe)
            await made.fleet.rows("UPDATE states SET checkpoint = $1", newest)
            probe.start()
            collector.start()
            await made.fleet.ready(collector)
            await eventually(lambda: _dropped(probe))
            await eventually(lambda: _hears_of(made, monitor, 5), timeout_s=60)
            plain(zoo, here, range(5, 7))
            await eventually(lambda: _hears_of(made, monitor, 7), timeout_s=60)
            await made.checked(monitor)
            assert sorted(amounts(made.told(monitor))) == [str(number) for number in range(7)]


async def _dropped(probe: Part) -> bool:
    return '"message": "results dropped"' in probe.log


async def _hears_of(made: Stage, monitor: str, count: int) -> bool:
    return len(amounts(made.told(monitor))) >= count


async def test_what_a_fork_took_back_is_told_once_over_two_locations(
    database_url: str, tmp_path: Path
) -> None:
    with chain() as here:
        zoo = here.deploy("Zoo")
        here.mine(10)
        async with stage(database_url, tmp_path, "eu", "us") as made:
            monitor = await made.monitor("web3_contract_event", of_events(here, zoo), "eu", "us")
            plain(zoo, here, range(3))
            await _tells(made, monitor, 3)
            again = {"from": here.accounts[0], "to": zoo, "data": calldata("plain(uint256)", [9])}
            here.rpc("anvil_reorg", 2, [[again, 0]])
            told = await made.hears(monitor, *["event"] * 4, *["removed"] * 2)
            assert amounts(item for item in told if word(item) == "removed") == ["1", "2"]
            assert amounts(told[-1:]) in (["9"], ["2"])

            [first, second] = made.fleet.probes
            for probe in (first, second):
                probe.send(signal.SIGKILL)
            here.rpc("anvil_reorg", 3, [])
            for probe in (first, second):
                probe.start()
            await made.hears(monitor, *["event"] * 4, *["removed"] * 4, timeout_s=40)
            await made.checked(monitor)
            await made.hears(monitor, *["event"] * 4, *["removed"] * 4)
