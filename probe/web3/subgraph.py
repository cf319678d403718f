"""Does a subgraph keep up with its chain?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Final

import orjson

from probe.checks._check import Check, Kept
from probe.net.bodies import ACCEPTED, Body
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.http1 import HttpReply
from probe.net.request import request
from probe.net.spent import Limit, PhaseDurations
from probe.web3.checkpoint import CheckpointState
from probe.web3.crossings import MeasuredValue
from probe.web3.nodes import ChainView, Pool
from probe.web3.rpc import url_secrets
from shared.evidence import Evidence, redacted
from shared.kinds.http import Http
from shared.kinds.web3.fields import nodes
from shared.kinds.web3.subgraph import Subgraph
from shared.results import Outcome, Status
from shared.secrets import secret_texts

_ASKED: Final = orjson.dumps({"query": "{_meta{block{number hash} hasIndexingErrors}}"}).decode()
_MOST_BYTES: Final = 262_144
_MOST_WORDS: Final = 200
_MOST_SEEN: Final = 1_000
_OURS: Final = {"Content-Type": "application/json", "Accept-Encoding": ACCEPTED}
_OK: Final = range(200, 300)
_FAILING: Final = "hasIndexingErrors"


@dataclass(frozen=True, slots=True)
class _Meta:
    """The block up to which it has indexed."""

    block: int
    failing: bool


def prepare(kind: Subgraph, kept: Kept) -> Check:
    """Raises ValueError for a configuration that cannot be run."""
    pool = Pool(nodes(kind.rpc_url, kind.chain, kind.max_block_age_seconds, 1))
    asked = request(Http(url=kind.url, method="POST", headers=_headers(kind.headers), body=_ASKED))
    standing, secrets = CheckpointState(kept, "subgraph", kind.url), _secrets(kind)

    async def check(net: Net, deadline: float) -> Outcome:
        spent, limit = PhaseDurations(), Limit.until(deadline)
        body = Body(_MOST_BYTES)
        reply = HttpReply(head=False, most=_MOST_BYTES, body=body)
        await net.converse(asked.endpoint, spent, limit, asked.data, reply)
        meta = _read(reply, body, spent, secrets)
        if meta.failing:
            raise TargetError("subgraph: it has indexing errors", code=reply.code, spent=spent)
        head = await pool.read(net, PhaseDurations(), limit, _head)
        measured = _measured(max(head - meta.block, 0), kind.max_blocks_behind)
        state, findings = standing.settle([measured])
        return Outcome(
            Status.UP, reply.code, phases=spent.phases(), state=state, address=spent.address, found=findings
        )

    return check


def _headers(given: Mapping[str, str]) -> dict[str, str]:
    """*given*, without headers that we must set."""
    ours = {name.lower() for name in _OURS}
    return {**{name: value for name, value in given.items() if name.lower() not in ours}, **_OURS}


async def _head(view: ChainView) -> int:
    return view.head.number


def _measured(behind: int, most: int) -> MeasuredValue:
    """The lag; it recovers a twentieth of the limit below it, in whole blocks."""
    text = f"the subgraph is {behind} blocks behind its chain, {most} are allowed"
    back = Decimal(most // 20) / most
    return MeasuredValue(
        "blocks_behind", Decimal(behind), Decimal(most), "blocks", text, back=back, strict=True
    )


def _secrets(kind: Subgraph) -> tuple[str, ...]:
    """Secrets that a response may quote: headers, and any part of the URL that may be a key."""
    return *secret_texts(kind), *url_secrets(kind.url)


def _read(reply: HttpReply, body: Body, spent: PhaseDurations, secrets: Sequence[str]) -> _Meta:
    """Parse the response. Raises TargetError if it does not answer the query."""
    fault = partial(TargetError, code=reply.code, spent=spent)
    said = _json(reply, body)
    if isinstance(said, dict) and said.get("errors"):
        raise fault(f"subgraph: {_first(said['errors'], secrets)}")
    if reply.code not in _OK:
        raise fault(f"status {reply.code}, expected 200-299")
    if body.fault or body.full:
        raise fault(f"subgraph: {body.fault or f'answers more than {_MOST_BYTES >> 10} kB'}")
    number, failing = _at(said, "data", "_meta", "block", "number"), _at(said, "data", "_meta", _FAILING)
    if type(number) is not int or number < 0 or not isinstance(failing, bool):
        raise fault("subgraph: does not tell up to which block it has indexed")
    return _Meta(number, failing)


def _json(reply: HttpReply, body: Body) -> Any:
    """The parsed body; None if it is no JSON, or incomplete."""
    if body.full:
        return None
    try:
        return orjson.loads(reply.text)
    except orjson.JSONDecodeError:
        return None


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _first(errors: Any, secrets: Sequence[str]) -> str:
    """The first error's text, from a foreign server, on one line."""
    message = _at(errors[0], "message") if isinstance(errors, list) else None
    text = " ".join(message[:_MOST_SEEN].split()) if isinstance(message, str) else ""
    return redacted(Evidence(body=text), secrets).body[:_MOST_WORDS] or "answers an error"
