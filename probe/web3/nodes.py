"""The nodes of a chain, tried in turn: each must be on it and at its head, and agree where asked."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.spent import Limit, PhaseDurations
from probe.web3.rpc import Call, Node, NodeFault
from probe.web3.values import Block, block, quantity
from shared.kinds.web3.chains import ANY_CHAIN
from shared.kinds.web3.fields import Nodes

T = TypeVar("T")

_BLOCK: Final = "eth_getBlockByNumber"
_HEAD: Final = Call(_BLOCK, ("latest", False))
_CHAIN: Final = Call("eth_chainId")
# If a block is newer than the probe's clock by more than this, one of both is wrong.
_AHEAD_S: Final = 3_600
# Prefixes of network errors, which name their phase themselves.
_PHASES: Final = frozenset({"dns", "connect", "tls", "http", "first byte", "headers", "body", "transfer"})


@dataclass(frozen=True, slots=True)
class ChainView:
    """One node's view of its chain up to *head*: every call must be about that block, or an older one."""

    node: Node
    head: Block
    net: Net
    spent: PhaseDurations
    limit: Limit

    @property
    def at(self) -> str:
        """The head's number, as a parameter."""
        return hex(self.head.number)

    async def ask(self, *calls: Call) -> list[Any]:
        """The result of each call, or a Refusal in its place. Raises NodeFault, ProbeError."""
        return await self.node.ask(self.net, self.spent, self.limit, calls)


Look = Callable[[ChainView], Awaitable[T]]
Settle = Callable[[Sequence[T], int], T | None]


def alike(seen: Sequence[T], quorum: int) -> T | None:
    """The view shared by at least *quorum* of them, None if there is none."""
    return next((one for one in seen if seen.count(one) >= quorum), None)


class Pool:
    """The nodes of one monitor."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = [Node(url) for url in nodes.urls]
        self._chain = nodes.chain.id  # ANY_CHAIN's id until a node reports another
        self._max_age_s = nodes.max_age_s
        self._quorum = nodes.quorum

    async def read(
        self, net: Net, spent: PhaseDurations, limit: Limit, look: Look[T], settle: Settle[T] = alike
    ) -> T:
        """The result of *look* at the first working node, or the one that a quorum agrees on.

        Raises TargetError if none works, or too few agree; ProbeError for errors of this machine.
        """
        try:
            if not self._nodes:
                raise self._nobody()
            if self._quorum > 1:
                return await self._agreed(net, spent, limit, look, settle)
            return await self._first(net, spent, limit, look)
        except TargetError as error:
            error.spent = spent
            raise

    def _nobody(self) -> TargetError:
        chain = "its chain" if self._chain == ANY_CHAIN.id else f"chain {self._chain}"
        return TargetError(f"no node for {chain}: set rpcUrl or TOCSIN_RPC_URLS")

    async def _first(self, net: Net, spent: PhaseDurations, limit: Limit, look: Look[T]) -> T:
        faults: dict[Node, str] = {}
        ordered = sorted(self._nodes, key=lambda node: node.rests_s)
        for left, node in zip(range(len(ordered), 0, -1), ordered, strict=True):
            now = time.monotonic()
            share = Limit(now, now + (limit.deadline - now) / left)
            try:
                seen = await look(await self._view(node, net, spent, share))
            except NodeFault as fault:
                faults[node] = str(fault)
                node.rest(fault.rest_s)
            else:
                node.served()
                return seen
        raise self._failed(faults)

    async def _agreed(
        self, net: Net, spent: PhaseDurations, limit: Limit, look: Look[T], settle: Settle[T]
    ) -> T:
        faults: dict[Node, str] = {}
        views = await self._each(
            self._nodes, lambda node: self._view(node, net, PhaseDurations(), limit), faults, limit
        )
        # The newest block that a quorum has.
        common = sorted((view.head.number for view in views.values()), reverse=True)[self._quorum - 1]
        views = {node: view for node, view in views.items() if view.head.number >= common}
        views = await self._each(list(views), lambda node: _at(views[node], common), faults, limit)
        heads = Counter(view.head for view in views.values())
        head, count = heads.most_common(1)[0]
        if count < self._quorum:
            raise self._disagree(f"on block {common}")
        able = [node for node, view in views.items() if view.head == head]
        seen = await self._each(able, lambda node: look(views[node]), faults, limit)
        # They were asked concurrently: the slowest one determines the duration.
        spent.take(max((views[node].spent for node in seen), key=lambda one: one.total))
        settled = settle(list(seen.values()), self._quorum)
        if settled is None:
            raise self._disagree(f"on what they see at block {common}")
        return settled

    async def _each(
        self,
        nodes: Sequence[Node],
        ask: Callable[[Node], Awaitable[T]],
        faults: dict[Node, str],
        limit: Limit,
    ) -> dict[Node, T]:
        """The answer of each of *nodes*, from at least a quorum. Raises TargetError for fewer."""
        asked: dict[asyncio.Future[T], Node] = {asyncio.ensure_future(ask(node)): node for node in nodes}
        try:
            await self._enough(asked, limit)
            for task, node in asked.items():
                self._note(task, node, faults)
            said = {
                node: task.result()
                for task, node in asked.items()
                if task.done() and task.exception() is None
            }
        finally:
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        if len(said) < self._quorum:
            raise self._failed(faults)
        return said

    async def _enough(self, asked: dict[asyncio.Future[T], Node], limit: Limit) -> None:
        """Wait for a quorum; for the others at most half of the time, and not for resting ones."""
        pending = set(asked)
        half = time.monotonic() + (limit.deadline - time.monotonic()) / 2
        while pending:
            left = half - time.monotonic()
            _, pending = await asyncio.wait(
                pending, timeout=left if left > 0 else None, return_when=asyncio.FIRST_COMPLETED
            )
            good = sum(task.done() and task.exception() is None for task in asked)
            patient = time.monotonic() < half and not all(asked[task].rests_s for task in pending)
            if good >= self._quorum and not patient:
                return

    def _note(self, task: asyncio.Future[T], node: Node, faults: dict[Node, str]) -> None:
        """Record a node's fault; raise all other errors."""
        fault = task.exception() if task.done() else NodeFault("does not answer in time")
        if fault is None:
            node.served()
        elif isinstance(fault, NodeFault):
            faults[node] = str(fault)
            if task.done() or not node.rests_s:
                node.rest(fault.rest_s)
        else:
            raise fault

    async def _view(self, node: Node, net: Net, spent: PhaseDurations, limit: Limit) -> ChainView:
        """Raises NodeFault for a node on another chain, or one whose head does not advance."""
        latest, chain = await node.ask(net, spent, limit, [_HEAD, _CHAIN])
        found = quantity(chain, "eth_chainId")
        if self._chain not in {ANY_CHAIN.id, found}:
            msg = f"is on chain {found}, expected {self._chain}"
            raise NodeFault(msg)
        head = block(latest, "newest block")
        if head is None:
            raise NodeFault("has no newest block")
        age_s = int(time.time()) - head.at
        if age_s > self._max_age_s:
            msg = f"is stale: its newest block {head.number} is {age_s} s old, {self._max_age_s:g} s allowed"
            raise NodeFault(msg)
        if age_s < -_AHEAD_S:
            msg = f"is ahead of time: its newest block {head.number} is of {-age_s} s from now"
            raise NodeFault(msg)
        self._chain = found
        return ChainView(node, head, net, spent, limit)

    def _failed(self, faults: dict[Node, str]) -> TargetError:
        """The error, in the order of the configuration, so that equal failures have equal texts."""
        count = len(self._nodes)
        if count == 1:
            [fault] = faults.values()
            plain = fault.split(":", 1)[0] in _PHASES
            return TargetError(fault if plain else f"rpc: {self._nodes[0].host} {fault}")
        lines = [
            f"node {number} of {count} ({node.host}) {faults[node]}"
            for number, node in enumerate(self._nodes, 1)
            if node in faults
        ]
        wanted = f"{self._quorum} nodes must agree; " if self._quorum > 1 else ""
        return TargetError(f"rpc: {wanted}{'; '.join(lines)}")

    def _disagree(self, about: str) -> TargetError:
        return TargetError(f"rpc: no {self._quorum} of {len(self._nodes)} nodes agree {about}")


async def _at(view: ChainView, number: int) -> ChainView:
    """*view* with an older block as its head."""
    if view.head.number == number:
        return view
    [said] = await view.ask(Call(_BLOCK, (hex(number), False)))
    head = block(said, _BLOCK)
    if head is None or head.number != number:
        msg = f"does not have block {number}, which lies behind its head"
        raise NodeFault(msg)
    return ChainView(view.node, head, view.net, view.spent, view.limit)
