"""The deployment's nodes by chain, for Web3 monitors that name none."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from shared.kinds import WEB3, effective
from shared.kinds.web3.chains import ANY_CHAIN, chain_or_any
from shared.kinds.web3.fields import NO_CHAIN

# URLs by chain id.
Nodes: TypeAlias = Mapping[int, tuple[str, ...]]
NONE: Final[Nodes] = {}
# The contract names no node for them, or an optional one: they are created without one, with a warning.
_WITHOUT_NODE: Final = frozenset({"gas_price", "web3_contract_event"})


@dataclass(frozen=True, slots=True)
class _NodePlace:
    """A place for nodes in a configuration: *prefix* precedes its fields, as ``source.``."""

    prefix: str
    fields: Mapping[str, Any]

    @property
    def chain(self) -> Any:
        return self.fields.get("chainId", self.fields.get("chain"))

    @property
    def chain_field(self) -> str:
        return self.prefix + ("chainId" if "chainId" in self.fields else "chain")

    @property
    def chain_id(self) -> int:
        """The chain's id; an unknown name matches any chain."""
        return chain_or_any(self.chain).id

    def own(self) -> list[str]:
        urls = self.fields.get("rpcUrl")
        return list(dict.fromkeys([urls] if isinstance(urls, str) else urls or ()))

    def readable(self, bad: Collection[str], nodes: Nodes) -> bool:
        """Whether its nodes are known despite *bad* fields; the chain matters only if there are *nodes*."""
        names = ("rpcUrl", "chain", "chainId") if nodes else ("rpcUrl",)
        named = {f"{self.prefix}{name}" for name in names}
        return not any(path.partition("[")[0] in named for path in bad)

    def given(self, nodes: Nodes) -> list[str]:
        """Its own nodes, else the deployment's."""
        return self.own() or (list(nodes.get(self.chain_id, ())) if nodes else [])


def faults(type_: str, config: Mapping[str, Any], bad: Collection[str], nodes: Nodes) -> dict[str, str]:
    """Errors: no node, or too few for the quorum, as far as *config* is readable despite its *bad* paths."""
    errors: dict[str, str] = {}
    if type_ not in WEB3:
        return errors
    quorum = config.get("rpcQuorum") or 1
    for place in _places(config):
        if not place.readable(bad, nodes):
            continue
        given = place.given(nodes)
        if not given and place.chain is not None and place.chain_field not in bad and _is_any(place):
            errors[place.chain_field] = NO_CHAIN
        elif not given and type_ not in _WITHOUT_NODE:
            errors[f"{place.prefix}rpcUrl"] = (
                f"rpcUrl is required: there is no node for {_named(place.chain)}"
            )
        elif given and "rpcQuorum" not in bad and int(quorum) > len(given):
            errors["rpcQuorum"] = f"must be at most {len(given)}: there are no more nodes"
    return errors


def warnings(type_: str, config: Mapping[str, Any], nodes: Nodes) -> list[str]:
    """Warnings about a valid *config* whose chain has no node yet."""
    if type_ not in _WITHOUT_NODE:
        return []
    return [
        f"no node for chain {place.chain_id}: checks fail until "
        f"{place.prefix}rpcUrl or TOCSIN_RPC_URLS names one"
        for place in _places(config)
        if not place.given(nodes)
    ]


def filled(type_: str, config: Mapping[str, Any], nodes: Nodes) -> dict[str, Any]:
    """*config* (JSON, checked) as a probe needs it: with the deployment's nodes if it names none."""
    if effective(type_, config) not in WEB3:
        return dict(config)
    whole = dict(config)
    for place in _places(config):
        if not place.own() and (given := place.given(nodes)):
            inner = {**place.fields, "rpcUrl": given}
            whole |= {place.prefix.removesuffix("."): inner} if place.prefix else inner
    return whole


def _places(config: Mapping[str, Any]) -> Iterator[_NodePlace]:
    if config.get("subType") != "bridge":
        yield _NodePlace("", config)
        return
    sides = ((side, config.get(side)) for side in ("source", "destination"))
    yield from (_NodePlace(f"{side}.", fields) for side, fields in sides if isinstance(fields, Mapping))


def _is_any(place: _NodePlace) -> bool:
    return place.chain_id == ANY_CHAIN.id


def _named(chain: Any) -> str:
    return "its chain" if chain is None else f"the chain {chain}"
