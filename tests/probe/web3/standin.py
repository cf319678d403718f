"""Nodes that answer what a test wants, on real sockets, where no real one would."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.probe.targets import Behaviour, read_request

GWEI = 10**9
START = int(time.time())  # when block 1000 was made; the conftest sets it anew for each test


@dataclass(frozen=True, slots=True)
class Facts:
    """What a node believes of its chain; *more* has results by method, a callable ones by the params."""

    chain: int = 1
    number: int = 1000
    age_s: int = 0
    branch: int = 0
    gas: int = 20 * GWEI
    more: Mapping[str, Any] = field(default_factory=dict)

    def header(self, number: int) -> dict[str, str]:
        at = START + (number - 1000) * 12 - self.age_s
        return {
            "number": hex(number),
            "hash": f"0x{number * 16 + self.branch:064x}",
            "parentHash": f"0x{(number - 1) * 16 + self.branch:064x}",
            "timestamp": hex(at),
            "baseFeePerGas": hex(self.gas - GWEI),
        }

    def result(self, method: str, params: list[Any]) -> Any:
        if method in self.more:
            told = self.more[method]
            return told(params) if callable(told) else told
        if method == "eth_getBlockByNumber":
            return self.header(self.number if params[0] == "latest" else int(params[0], 16))
        return {"eth_chainId": hex(self.chain), "eth_gasPrice": hex(self.gas)}.get(method)

    def __call__(self, asked: Any) -> Any:
        """The answer to a call, or to a batch of them."""
        if isinstance(asked, list):
            return [self(item) for item in asked]
        if "method" not in asked:
            return {"data": self.more.get("data")}  # GraphQL
        return {"jsonrpc": "2.0", "id": asked["id"], "result": self.result(asked["method"], asked["params"])}


class Moving:
    """Answers by *facts*, which a test changes meanwhile."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def __call__(self, asked: Any) -> Any:
        return self.facts(asked)


def body_of(message: bytes) -> Any:
    """What a request asks."""
    return json.loads(message.partition(b"\r\n\r\n")[2])


def http(body: Any, status: int = 200, *lines: str) -> bytes:
    """As a response; anything but bytes as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = "\r\n".join([f"HTTP/1.1 {status} So", f"Content-Length: {len(data)}", *lines, "", ""])
    return head.encode() + data


def node(answer: Callable[[Any], Any], status: int = 200, *lines: str) -> Behaviour:
    """Answers each request with what *answer* makes of its JSON."""

    def behave(sock: Any) -> None:
        message = read_request(sock)
        if message:
            sock.sendall(http(answer(body_of(message)), status, *lines))

    return behave
