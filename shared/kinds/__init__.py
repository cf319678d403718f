"""The kinds of monitor: the table, and reading and writing of their configuration.

A kind is a frozen dataclass whose annotated bounds the collector checks with pydantic; the probe reads
the same classes without it. Names are snake_case here and camelCase in JSON.
"""

import dataclasses
import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, is_dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin, get_type_hints

from shared.kinds.fields import Secret, camel

if TYPE_CHECKING:
    from shared.kinds.dns import Dns
    from shared.kinds.grpc import Grpc
    from shared.kinds.heartbeat import Heartbeat
    from shared.kinds.http import Http
    from shared.kinds.icmp import Icmp
    from shared.kinds.imap import Imap
    from shared.kinds.mysql import Mysql
    from shared.kinds.opentelemetry import OpenTelemetry
    from shared.kinds.pop3 import Pop3
    from shared.kinds.postgres import Postgres
    from shared.kinds.prometheus import Prometheus
    from shared.kinds.redis import Redis
    from shared.kinds.smtp import Smtp
    from shared.kinds.tcp import Tcp
    from shared.kinds.tls import Tls
    from shared.kinds.web3.bridge import Bridge
    from shared.kinds.web3.contract_event import ContractEvent
    from shared.kinds.web3.defi_protocol import DefiProtocol
    from shared.kinds.web3.gas_price import GasPrice
    from shared.kinds.web3.liquidation import Liquidation
    from shared.kinds.web3.subgraph import Subgraph
    from shared.kinds.web3.whale_wallet import WhaleWallet
    from shared.kinds.websocket import WebSocket

    Kind = (
        Bridge
        | ContractEvent
        | DefiProtocol
        | Dns
        | GasPrice
        | Grpc
        | Heartbeat
        | Http
        | Icmp
        | Imap
        | Liquidation
        | Mysql
        | OpenTelemetry
        | Pop3
        | Postgres
        | Prometheus
        | Redis
        | Smtp
        | Subgraph
        | Tcp
        | Tls
        | WebSocket
        | WhaleWallet
    )
else:
    # Naming them here would load them all: 2 MB, and a seventh of the start of a probe that needs one or two.
    Kind = Any


class KindTable(Mapping[str, type[Kind]]):
    """The class of each type, as ``module:Class``; it is loaded when it is first asked for."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places
        self._loaded: dict[str, type[Kind]] = {}

    def __getitem__(self, type_: str) -> type[Kind]:
        if type_ not in self._loaded:
            module, _, name = self._places[type_].partition(":")
            self._loaded[type_] = getattr(import_module(f"shared.kinds.{module}"), name)
        return self._loaded[type_]

    def __contains__(self, type_: object) -> bool:
        return type_ in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


KINDS = KindTable(
    {
        "bridge": "web3.bridge:Bridge",
        "defi_protocol": "web3.defi_protocol:DefiProtocol",
        "dns": "dns:Dns",
        "gas_price": "web3.gas_price:GasPrice",
        "grpc": "grpc:Grpc",
        "heartbeat": "heartbeat:Heartbeat",
        "http": "http:Http",
        "icmp": "icmp:Icmp",
        "imap": "imap:Imap",
        "liquidation": "web3.liquidation:Liquidation",
        "mysql": "mysql:Mysql",
        "opentelemetry": "opentelemetry:OpenTelemetry",
        "pop3": "pop3:Pop3",
        "postgres": "postgres:Postgres",
        "prometheus": "prometheus:Prometheus",
        "redis": "redis:Redis",
        "smtp": "smtp:Smtp",
        "subgraph": "web3.subgraph:Subgraph",
        "tcp": "tcp:Tcp",
        "tls": "tls:Tls",
        "web3_contract_event": "web3.contract_event:ContractEvent",
        "websocket": "websocket:WebSocket",
        "whale_wallet": "web3.whale_wallet:WhaleWallet",
    }
)

# The umbrella type: ``config.subType`` selects one of these.
UMBRELLA = "web3"
WEB3 = (
    "gas_price",
    "whale_wallet",
    "liquidation",
    "defi_protocol",
    "subgraph",
    "bridge",
    "web3_contract_event",
)
# The types of monitors that check a chain.
OF_CHAINS = (UMBRELLA, *WEB3)

# The types that callers may use.
TYPES = (*KINDS, UMBRELLA)


class ReceiverType(StrEnum):
    """A type without probes: its data is sent to the collectors."""

    HEARTBEAT = "heartbeat"
    OPENTELEMETRY = "opentelemetry"
    PROMETHEUS = "prometheus"


RECEIVING = KindTable(
    {
        ReceiverType.HEARTBEAT: "heartbeat:Heartbeat",
        ReceiverType.OPENTELEMETRY: "opentelemetry:OpenTelemetry",
        ReceiverType.PROMETHEUS: "prometheus:Prometheus",
    }
)


def effective(type_: str, config: Mapping[str, Any]) -> str:
    """The type of the check: for the umbrella type, its ``subType``."""
    return type_ if type_ != UMBRELLA else str(subtype(config.get("subType")))


def subtype(said: Any) -> Any:
    """The canonical name of the type *said*; other values stay as they are."""
    word = said.lower() if isinstance(said, str) else said
    return "web3_contract_event" if word == "contract_event" else word if word in WEB3 else said


def load(type_: str, config: Mapping[str, Any]) -> Kind:
    """Build the kind from *config* (checked already, camelCase); unknown fields are dropped.

    Raises KeyError for a type that this version does not know, TypeError for a missing field.
    """
    kind: Kind = build(KINDS[effective(type_, config)], config)
    return kind


def secret_fields(kind: Any) -> frozenset[str]:
    """The camelCase names of the top-level fields that are encrypted at rest and masked for readers."""
    return _secret_fields(kind)


@cache
def _secret_fields(kind: Any) -> frozenset[str]:
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(camel(name) for name, hint in hints.items() if _is_secret(hint))


def _is_secret(hint: Any) -> bool:
    """Whether the hint is marked as secret, also within a union."""
    if get_origin(hint) is Annotated:
        return any(isinstance(mark, Secret) for mark in get_args(hint)[1:])
    return get_origin(hint) in (Union, types.UnionType) and any(map(_is_secret, get_args(hint)))


def build(cls: Any, values: Mapping[str, Any]) -> Any:
    """Build a *cls* from *values* (checked already, camelCase). Raises TypeError for a missing field."""
    arguments: dict[str, Any] = {}
    for name, (alias, nested, required) in _shape(cls).items():
        if alias in values:
            value = values[alias]
            arguments[name] = _built(nested, value) if nested else value
        elif required:
            msg = f"{cls.__name__} lacks {alias}"
            raise TypeError(msg)
    return cls(**arguments)


def _built(nested: type[Any], value: Any) -> Any:
    if isinstance(value, Mapping):
        return build(nested, value)
    return [_built(nested, item) for item in value] if isinstance(value, list) else value


@cache
def _shape(cls: Any) -> dict[str, tuple[str, type[Any] | None, bool]]:
    hints = get_type_hints(cls)
    return {
        field.name: (
            camel(field.name),
            _nested(hints[field.name]),
            field.default is MISSING and field.default_factory is MISSING,
        )
        for field in dataclasses.fields(cls)
    }


def _nested(hint: Any) -> type[Any] | None:
    if is_dataclass(hint) and isinstance(hint, type):
        return hint
    if get_origin(hint) in (Union, types.UnionType, list):
        return next((part for part in get_args(hint) if isinstance(part, type) and is_dataclass(part)), None)
    return None
