"""Which events does a contract emit?"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probe.checks._check import Check, Kept
from probe.net.engine import Net
from probe.net.spent import Limit, PhaseDurations
from probe.web3 import lag
from probe.web3.agreement import agreed
from probe.web3.checkpoint import CheckpointState
from probe.web3.decode import keccak
from probe.web3.events import arguments, finding, raw, topic, topic_of
from probe.web3.line import begin
from probe.web3.logs import Log, by_filters
from probe.web3.nodes import ChainView, Pool
from probe.web3.places import PlaceFinding
from probe.web3.reader import Reader, Source, Step
from probe.web3.restarted_chain import RestartedChain
from probe.web3.slices import fairly
from shared.findings import Finding
from shared.kinds.web3.abi import AbiEvent, Param, event_of, others
from shared.kinds.web3.chains import chain_or_any
from shared.kinds.web3.contract_event import ContractEvent
from shared.kinds.web3.fields import nodes
from shared.kinds.web3.sought import listed, sought, told
from shared.results import Outcome


@dataclass(frozen=True, slots=True)
class _EventCriteria:
    """The event, its required arguments, and the other events of the contract."""

    event: AbiEvent
    values: Mapping[str, Collection[str]]
    others: Collection[bytes]

    def finding(self, log: Log) -> Finding | None:
        """The finding for *log*, None if it is not wanted; an undecodable one is reported raw."""
        if self.event.anonymous and log.topics and log.topics[0] in self.others:
            return None
        try:
            said = arguments(self.event, log)
        except ValueError as error:
            # Without a topic that identifies it, a log of another shape is another event's.
            return None if self.event.anonymous else finding(self.event.name, log, raw(log), str(error))
        params = {param.name: param for param in self.event.inputs}
        if any(told(params[name], said[name]) not in values for name, values in self.values.items()):
            return None
        return finding(self.event.name, log, said)


def prepare(kind: ContractEvent, kept: Kept) -> Check:
    """Raises ValueError for a configuration that cannot be run."""
    pool = Pool(nodes(kind.rpc_url, kind.chain_id, kind.max_block_age_seconds, kind.rpc_quorum))
    chain = chain_or_any(kind.chain_id)
    event = event_of(kind.abi, kind.event_name)
    wished = sought(event, kind.filters)
    filter_ = {"address": kind.address.lower(), "topics": _topics(event, wished)}
    wanted = _EventCriteria(
        event, _ours(event, wished), [keccak(other.encode()) for other in others(kind.abi, event)]
    )
    confirmations = chain.confirmations if kind.confirmations is None else kind.confirmations
    reader, anew = Reader(_told(wanted, filter_), confirmations), RestartedChain()
    standing = CheckpointState(
        kept, "web3_contract_event", chain.id, filter_, event.signature, listed(wished)
    )

    async def check(net: Net, deadline: float) -> Outcome:
        spent, missed = PhaseDurations(), standing.heed()
        cursor, line = begin(standing, missed)
        anew.begin()

        async def look(view: ChainView) -> Step[PlaceFinding]:
            return await anew.advance(reader, view, cursor, line.again)

        step = await pool.read(net, spent, Limit.until(deadline), look, agreed)
        why = lag.fault(step, standing.more.get("late"))
        more = {"cursor": step.cursor.plain(), "late": step.late_s, **line.after(step).plain()}
        state, findings = standing.settle(lag.measured(step, standing.raised), more)
        findings = [*(finding.finding for finding in step.logs), *step.retractions, *findings]
        return lag.came_to(spent, why, state, findings)

    return check


def _told(wanted: _EventCriteria, filter_: Mapping[str, Any]) -> Source[PlaceFinding]:
    read = by_filters([filter_])

    async def source(view: ChainView, first: int, last: int) -> Sequence[PlaceFinding]:
        findings = []
        async for log in fairly(await read(view, first, last)):
            finding = wanted.finding(log)
            if finding is not None:
                findings.append(PlaceFinding(log.block, log.block_hash, log.index, finding))
        return findings

    return source


def _topics(event: AbiEvent, wished: Mapping[str, Sequence[str]]) -> list[Any]:
    """The topics by which nodes filter."""
    first = topic(event)
    topics: list[Any] = [] if first is None else [first]
    topics += [_topic(param, wished) for param in event.inputs if param.indexed]
    while topics and topics[-1] is None:
        topics.pop()
    return topics


def _topic(param: Param, wished: Mapping[str, Sequence[str]]) -> list[str] | None:
    return [topic_of(param, text) for text in wished[param.name]] if param.name in wished else None


def _ours(event: AbiEvent, wished: Mapping[str, Sequence[str]]) -> dict[str, Collection[str]]:
    """Filters that nodes cannot apply; arguments that may or may not be topics match in either form."""
    return {
        param.name: {*wished[param.name], *(topic_of(param, text) for text in wished[param.name])}
        if param.indexed is None and not param.static
        else set(wished[param.name])
        for param in event.inputs
        if not param.indexed and param.name in wished
    }
