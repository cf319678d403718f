"""A node of ours in front of a real one, that answers as providers do, or lies."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.probe.targets import target
from tests.probe.web3.chain import Chain
from tests.probe.web3.standin import node

# Gets method, params and the real result; returns what to answer, or raises Refused.
Twist = Callable[[str, list[Any], Any], Any]


class Refused(Exception):
    """The node answers this error: code and message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Between:
    """Asks *chain* and answers what *twist* makes of it; *asked* are the calls so far."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.twist: Twist = lambda _method, _params, said: said
        self.asked: list[tuple[str, list[Any]]] = []
        self.url = ""
        self._lock = threading.Lock()

    def answer(self, asked: Any) -> Any:
        if isinstance(asked, list):
            return [self.answer(item) for item in asked]
        method, params = asked["method"], asked["params"]
        self.asked.append((method, params))
        head = {"jsonrpc": "2.0", "id": asked["id"]}
        try:
            with self._lock:
                return {**head, "result": self.twist(method, params, self.chain.rpc(method, *params))}
        except Refused as error:
            return {**head, "error": {"code": error.code, "message": str(error)}}
        except RuntimeError as error:
            return {**head, "error": error.args[0]}

    def count(self, method: str) -> int:
        return sum(text == method for text, _ in self.asked)


@contextmanager
def between(chain: Chain) -> Iterator[Between]:
    middle = Between(chain)
    with target(node(middle.answer)) as server:
        middle.url = server.url
        yield middle
