"""A check that somebody waits for reaches a probe, its answer comes back, and nobody waits for ever."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import grpc
import orjson
import pytest

from collector.monitors.service import runs
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.errors import Unavailable
from shared.phases import pack
from shared.results import Outcome, Phases, Run, Status
from shared.wire.v1 import probe_pb2
from tests.probes.peer import Collector, Peer, collecting, connected, hello, sealed

CONFIG = {"url": "https://example.com/", "headers": {"authorization": "Bearer open sesame"}}


@pytest.fixture
async def collector(db: Db) -> AsyncIterator[Collector]:
    async with collecting(db) as one:
        yield one


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "PATIENCE", timedelta(milliseconds=100))


def trial(
    collector: Collector, *locations: str, timeout_s: int = 10, type_: str = "http"
) -> asyncio.Task[runs.TrialResult]:
    return asyncio.create_task(
        runs.test(
            collector.db,
            collector.signals,
            collector.keyring,
            team_id=collector.team_id,
            type_=type_,
            config=CONFIG,
            timeout_s=timeout_s,
            locations=locations or ["eu"],
            now=utc_now(),
        )
    )


async def asked(peer: Peer) -> probe_pb2.Run:
    await peer.hear_until(lambda: peer.runs)
    return peer.runs.pop()


@pytest.mark.oldest
async def test_a_test_runs_on_a_probe_and_its_outcome_comes_back(collector: Collector) -> None:
    async with connected(collector, hello()) as peer:
        waiting = trial(collector)
        run = await asked(peer)
        phases = Phases(dns_us=1000, first_byte_us=2000)
        await peer.say(
            answer=probe_pb2.Answer(
                id=run.id,
                outcome=Status.DOWN,
                code=503,
                error="status 503",
                phases=pack(phases),
                duration_us=4321,
            )
        )
        tested = await waiting

    assert (run.run, run.within_ms, run.check.type, run.check.timeout_ms) == (
        Run.TEST,
        10_000,
        "http",
        10_000,
    )
    assert orjson.loads(run.check.config) == CONFIG
    assert tested == runs.TrialResult(Outcome(Status.DOWN, 503, "status 503", phases), 4321)


async def test_the_session_may_hang_on_another_collector(db: Db, collector: Collector) -> None:
    async with collecting(db, keyring=collector.keyring) as other, connected(other, hello()) as peer:
        waiting = trial(collector)
        run = await asked(peer)
        await peer.say(answer=probe_pb2.Answer(id=run.id, outcome=Status.UP, code=200))

        assert (await waiting).outcome == Outcome(Status.UP, 200)


async def test_the_probe_of_the_first_location_asked_for_is_taken_else_any(collector: Collector) -> None:
    eu, us = hello(locations=["eu"]), hello(locations=["us"])
    async with connected(collector, eu) as first, connected(collector, us) as second:
        for locations, taken in ((("us", "eu"), second), (("eu", "us"), first), (("moon", "us"), second)):
            waiting = trial(collector, *locations)
            run = await asked(taken)
            await taken.say(answer=probe_pb2.Answer(id=run.id, outcome=Status.UP))
            await waiting
        waiting = trial(collector, "moon")
        hearing = {asyncio.create_task(asked(peer)) for peer in (first, second)}
        done, deaf = await asyncio.wait(hearing, return_when=asyncio.FIRST_COMPLETED)
        for task in (waiting, *deaf):
            task.cancel()
        await asyncio.gather(waiting, *deaf, return_exceptions=True)

    assert len(done) == 1


async def test_without_a_probe_it_is_unavailable(collector: Collector, hasty: None) -> None:
    async with connected(collector, hello(kinds=["tcp"])):
        with pytest.raises(Unavailable, match="no probe is connected"):
            await trial(collector)


async def test_a_probe_that_connects_in_time_is_taken(collector: Collector) -> None:
    waiting = trial(collector)
    async with connected(collector, hello()) as peer:
        run = await asked(peer)
        await peer.say(answer=probe_pb2.Answer(id=run.id, outcome=Status.UP))

        assert (await waiting).outcome.status is Status.UP


async def test_a_probe_that_does_not_answer_is_not_waited_for_for_ever(
    collector: Collector, hasty: None
) -> None:
    async with connected(collector, hello()) as peer:
        waiting = trial(collector, timeout_s=0)
        await asked(peer)
        with pytest.raises(Unavailable, match="did not answer"):
            await waiting


async def test_nobody_answers_for_another_probe(collector: Collector) -> None:
    async with connected(collector, hello()) as peer, connected(collector, hello(locations=["us"])) as other:
        waiting = trial(collector, "eu")
        run = await asked(peer)
        await other.say(answer=probe_pb2.Answer(id=run.id, outcome=Status.UP))
        await other.say(batch=sealed(1))
        await other.hear_until(lambda: other.acked)
        await peer.say(answer=probe_pb2.Answer(id=run.id, outcome=Status.DOWN))

        assert (await waiting).outcome.status is Status.DOWN


async def test_an_answer_that_makes_no_sense_ends_its_session(collector: Collector, hasty: None) -> None:
    async with connected(collector, hello()) as peer:
        waiting = trial(collector, timeout_s=1)
        run = await asked(peer)
        await peer.say(answer=probe_pb2.Answer(id=run.id, outcome=77))
        code, _ = await peer.ended()
        waiting.cancel()

    assert code is grpc.StatusCode.INVALID_ARGUMENT


async def test_no_secret_of_a_tested_config_lies_open_in_the_database(collector: Collector) -> None:
    async with connected(collector, hello()) as peer:
        waiting = trial(collector)
        run = await asked(peer)
        rows = await collector.fetch("SELECT payload::text AS text FROM signals WHERE kind = 'run'")
        await peer.say(answer=probe_pb2.Answer(id=run.id, outcome=Status.UP))
        await waiting

    assert len(rows) == 1
    assert "sesame" not in rows[0]["text"]
