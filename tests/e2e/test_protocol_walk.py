"""Accidents to a probe's spool, and to the database: the checks go on, nothing twice, nothing invented."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from probe.spool.segments import Sealed, scan
from shared.wire.convert import decode
from tests.e2e.product import Caller, Product, eventually, running
from tests.receiver import Receiver, answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def spool_of(product: Product) -> Path:
    [segment, *_] = product.data_dir.rglob("*.seg")
    return segment.parent


def lose(spool: Path, _: Path) -> None:
    shutil.rmtree(spool)


def rewind(spool: Path, earlier: Path) -> None:
    shutil.rmtree(spool)
    shutil.copytree(earlier, spool)


def damage(spool: Path, _: Path) -> None:
    for segment in spool.glob("*.seg"):
        content = bytearray(segment.read_bytes())
        content[len(content) // 2] ^= 0xFF
        segment.write_bytes(bytes(content))


@pytest.mark.parametrize("accident", [lose, rewind, damage])
async def test_the_probe_goes_on_after_an_accident_to_its_spool(
    tmp_path: Path, accident: Callable[[Path, Path], None]
) -> None:
    async with receiving() as target, running(tmp_path) as (product, caller):
        monitor = await caller.made("/v1/monitors", _monitor(target))
        await eventually(lambda: _more(caller, monitor, 2))
        spool, earlier = spool_of(product), tmp_path / "earlier"
        shutil.copytree(spool, earlier)
        await eventually(lambda: _more(caller, monitor, 5))

        product.kill("up", "collector", "probe", "postgres")
        accident(spool, earlier)
        product.start()
        await product.ready()

        before = len(await _results(caller, monitor))
        await eventually(lambda: _more(caller, monitor, before + 3), timeout_s=40)
        times = Counter(result["timestamp"] for result in await _results(caller, monitor))
        assert max(times.values()) == 1
        assert (await caller.got("/v1/incidents"))["data"] == []

        target.always = answer(500)
        await eventually(lambda: _open(caller))


async def test_a_database_restored_from_a_backup_is_made_whole_by_the_probe(tmp_path: Path) -> None:
    async with receiving() as target, running(tmp_path) as (product, caller):
        monitor = await caller.made("/v1/monitors", _monitor(target))
        await eventually(lambda: _more(caller, monitor, 2))
        assert product.stop() == 0
        shutil.copytree(product.data_dir / "postgres", tmp_path / "backup", symlinks=True)
        product.start()
        await product.ready()
        await eventually(lambda: _more(caller, monitor, 6), timeout_s=40)
        assert product.stop() == 0
        shutil.rmtree(product.data_dir / "postgres")
        shutil.copytree(tmp_path / "backup", product.data_dir / "postgres", symlinks=True)
        product.start()
        await product.ready()

        async def whole() -> bool:
            stored = len(await _results(caller, monitor))
            return stored >= 6 and stored == _spooled(product)

        await eventually(whole, timeout_s=40)


def _spooled(product: Product) -> int:
    found: dict[tuple[int, int], int] = {}
    for segment in spool_of(product).glob("*.seg"):
        for record in _sealed(segment):
            found[record.incarnation, record.seq] = len(decode(record.data).monitor)
    return sum(found.values())


def _sealed(segment: Path) -> Iterable[Sealed]:
    return [record for record in scan(segment.read_bytes()) if isinstance(record, Sealed)]


async def _results(caller: Caller, monitor: Any) -> list[Any]:
    return list((await caller.got(f"/v1/monitors/{monitor['id']}/results?limit=1000"))["data"])


async def _more(caller: Caller, monitor: Any, count: int) -> bool:
    return len(await _results(caller, monitor)) >= count


async def _open(caller: Caller) -> Any:
    return (await caller.got("/v1/incidents?status=open"))["data"]


def _monitor(target: Receiver) -> dict[str, Any]:
    config = {"url": target.url("/")}
    return {"name": "steady", "type": "http", "interval": 1, "timeout": 1, "config": config}
