"""Monitors of subgraphs: a GraphQL server of ours whose head follows a real node's."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
from aiohttp import web

from shared.kinds.web3.subgraph import Subgraph
from shared.results import Status
from tests.probe.targets import shut_port
from tests.probe.web3.chain import Chain, running
from tests.probe.web3.graph import Graph, serving
from tests.probe.web3.watch import Watch

NONE: tuple[list[str], list[str]] = ([], [])


@pytest.fixture
def chain() -> Iterator[Chain]:
    with running() as chain:
        chain.mine(100)
        yield chain


@pytest.fixture
async def graph(chain: Chain) -> AsyncIterator[Graph]:
    async with serving(chain) as graph:
        yield graph


@pytest.fixture
def watch(chain: Chain, graph: Graph) -> Watch:
    return Watch("subgraph", Subgraph(url=graph.url, rpc_url=chain.url, max_blocks_behind=40))


async def test_more_blocks_behind_than_allowed_is_told_and_so_is_that_it_caught_up(
    graph: Graph, watch: Watch
) -> None:
    def lag(blocks: int) -> None:
        graph.lag = blocks

    assert (await watch.tells(lambda: lag(40)))[0] == []
    assert await watch.tells(lambda: lag(41)) == (["blocks_behind"], [])
    assert watch.said["blocks_behind"] == {
        "current": "41",
        "threshold": "40",
        "unit": "blocks",
        "message": "the subgraph is 41 blocks behind its chain, 40 are allowed",
    }
    assert await watch.tells(lambda: lag(39)) == NONE
    watch.restart()
    assert await watch.tells(lambda: lag(38)) == ([], ["blocks_behind"])


@pytest.mark.parametrize("most", [1, 3, 19])
async def test_few_allowed_blocks_need_no_way_back(
    chain: Chain, graph: Graph, watch: Watch, most: int
) -> None:
    watch.change(replace(watch.kind, max_blocks_behind=most))
    graph.lag = most + 1
    await watch.well()
    assert watch.raised == ["blocks_behind"]

    graph.lag = most
    await watch.well()
    assert watch.recovered == ["blocks_behind"]


async def test_one_that_stands_still_falls_behind(chain: Chain, graph: Graph, watch: Watch) -> None:
    await watch.well()
    assert watch.raised == []

    def freeze() -> None:
        chain.mine(41)
        graph.lag = 41

    assert await watch.tells(freeze) == (["blocks_behind"], [])


async def test_one_ahead_of_the_node_is_not_behind(chain: Chain, graph: Graph, watch: Watch) -> None:
    graph.answer = web.json_response(
        {"data": {"_meta": {"block": {"number": 10**6, "hash": "0x"}, "hasIndexingErrors": False}}}
    )

    await watch.well()

    assert watch.said["blocks_behind"]["current"] == "0"


async def test_indexing_errors_are_an_error_of_the_check(graph: Graph, watch: Watch) -> None:
    graph.failing = True

    assert await watch.fault() == "subgraph: it has indexing errors"


async def test_errors_with_status_200_are_errors_all_the_same(graph: Graph, watch: Watch) -> None:
    graph.error = "indexing_error"

    assert await watch.fault() == "subgraph: indexing_error"


MUTE = "subgraph: does not tell up to which block it has indexed"


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        pytest.param(502, b"bad gateway", "status 502, expected 200-299", id="a gateway"),
        pytest.param(301, b"", "status 301, expected 200-299", id="a redirect"),
        pytest.param(500, b'{"data":{"_meta":1}}', "status 500, expected 200-299", id="broken"),
        pytest.param(404, b'{"errors":[{"message":"no such"}]}', "subgraph: no such", id="with reasons"),
        pytest.param(200, b'{"data":null}', MUTE, id="no data"),
        pytest.param(200, b'{"data":{"_meta":null}}', MUTE, id="no meta"),
        pytest.param(200, b'{"data":{"_meta":{"block":{"number":"5"}}}}', MUTE, id="a number as text"),
        pytest.param(
            200, b'{"data":{"_meta":{"block":{"number":-1},"hasIndexingErrors":false}}}', MUTE, id="-1"
        ),
        pytest.param(200, b'{"data":{"_meta":{"block":{"number":5}}}}', MUTE, id="no word of errors"),
        pytest.param(200, b"[]", MUTE, id="no object"),
        pytest.param(200, b"<html>", MUTE, id="no JSON"),
        pytest.param(200, b"", MUTE, id="nothing"),
        pytest.param(200, b'{"errors":{"a":1}}', "subgraph: answers an error", id="odd errors"),
        pytest.param(200, b"[" + b" " * 300_000 + b"]", "subgraph: answers more than 256 kB", id="huge"),
    ],
)
async def test_what_is_no_answer_is_an_error_of_the_check(
    graph: Graph, watch: Watch, status: int, body: bytes, words: str
) -> None:
    graph.answer = web.Response(status=status, body=body)

    outcome = await watch.look()

    assert (outcome.status, outcome.error, outcome.code) == (Status.DOWN, words, status)


async def test_a_slow_one_is_an_error_of_the_check(graph: Graph, watch: Watch) -> None:
    graph.wait_s = 2.0

    outcome = await watch.look(0.4)

    assert outcome.status is Status.DOWN
    assert outcome.error == "first byte: no answer within 0.4 s"


async def test_without_its_node_it_cannot_be_judged(graph: Graph, watch: Watch) -> None:
    with shut_port() as port:
        watch.change(replace(watch.kind, rpc_url=f"http://127.0.0.1:{port}/key-of-a-node"))

        error = await watch.fault()

    assert "refused" in error
    assert "key-of" not in error


async def test_a_node_of_another_chain_is_not_believed(chain: Chain, watch: Watch) -> None:
    watch.change(replace(watch.kind, chain="ethereum", max_block_age_seconds=3600))

    assert "is on chain 31337, expected 1" in await watch.fault()


async def test_headers_go_with_the_question(graph: Graph, watch: Watch) -> None:
    headers = {"Authorization": "Bearer of-somebody", "content-type": "text/plain"}
    watch.change(replace(watch.kind, headers=headers))

    await watch.well()

    sent = graph.headers[-1]
    assert sent["authorization"] == "Bearer of-somebody"
    assert sent["content-type"] == "application/json"


async def test_a_fault_says_nothing_of_the_key_in_its_url(graph: Graph, watch: Watch) -> None:
    graph.answer = web.Response(status=403)

    assert "key-of-somebody" not in await watch.fault()


async def test_an_answer_that_quotes_a_key_is_told_without_it(graph: Graph, watch: Watch) -> None:
    watch.change(replace(watch.kind, headers={"Authorization": "Bearer token-of-somebody"}))
    graph.error = "no such key:\nkey-of-somebody, nor token-of-somebody"

    error = await watch.fault()

    assert error.startswith("subgraph: no such key: ")
    assert "of-somebody" not in error


async def test_after_a_fault_it_goes_on_from_what_was_raised(graph: Graph, watch: Watch) -> None:
    graph.lag = 50
    await watch.well()
    graph.failing = True
    await watch.fault()
    graph.failing = False

    assert await watch.tells(lambda: None) == NONE
