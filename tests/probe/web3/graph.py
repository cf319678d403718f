"""A GraphQL server that answers of a subgraph as The Graph documents it; its head follows a real node's."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from graphql import GraphQLError, build_schema, graphql

from tests.probe.web3.chain import Chain

SCHEMA = build_schema(
    """
    scalar Bytes
    input Block_height { hash: Bytes number: Int number_gte: Int }
    type _Block_ { hash: Bytes number: Int! timestamp: Int parentHash: Bytes }
    type _Meta_ { block: _Block_! deployment: String! hasIndexingErrors: Boolean! }
    type Query { _meta(block: Block_height): _Meta_ }
    """
)


class Graph:
    """*lag*: blocks behind the chain; *failing*: it has indexing errors; *error* is said in place of a block.

    *answer*, where there is one, is sent whatever was asked, after *wait_s*.
    """

    def __init__(self, chain: Chain) -> None:
        self.url = ""
        self.lag = 0
        self.failing = False
        self.error = ""
        self.answer: web.Response | None = None
        self.wait_s = 0.0
        self.headers: list[dict[str, str]] = []
        self._chain = chain

    async def serve(self, request: web.Request) -> web.Response:
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        asked = await request.json()
        await asyncio.sleep(self.wait_s)
        if self.answer is not None:
            return self.answer
        result = await graphql(SCHEMA, asked["query"], {"_meta": self._meta})
        return web.json_response(result.formatted)

    def _meta(self, _info: Any, **_block: Any) -> Any:
        if self.error:
            raise GraphQLError(self.error)
        block = self._chain.rpc("eth_getBlockByNumber", hex(max(self._chain.head - self.lag, 0)), False)
        return {
            "block": {"hash": block["hash"], "number": int(block["number"], 16)},
            "deployment": "QmOfATest",
            "hasIndexingErrors": self.failing,
        }


@asynccontextmanager
async def serving(chain: Chain) -> AsyncIterator[Graph]:
    """A subgraph of *chain* on a free port."""
    graph = Graph(chain)
    app = web.Application()
    app.router.add_post("/subgraphs/id/{id}", graph.serve)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        graph.url = f"http://{host}:{port}/subgraphs/id/key-of-somebody"
        yield graph
    finally:
        await runner.cleanup()
