"""The kinds of monitor: the table, and reading and writing of their configuration.

A kind is a frozen dataclass whose annotated bounds the collector checks with pydantic; the probe reads
the same classes without it. Names are snake_case here and camelCase in JSON.
"""

import dataclasses
import types
from collections.abc import Mapping
from dataclasses import MISSING, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from shared.kinds.dns import Dns
from shared.kinds.fields import Secret, camel
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

KINDS: dict[str, type[Kind]] = {
    "bridge": Bridge,
    "defi_protocol": DefiProtocol,
    "dns": Dns,
    "gas_price": GasPrice,
    "grpc": Grpc,
    "heartbeat": Heartbeat,
    "http": Http,
    "icmp": Icmp,
    "imap": Imap,
    "liquidation": Liquidation,
    "mysql": Mysql,
    "opentelemetry": OpenTelemetry,
    "pop3": Pop3,
    "postgres": Postgres,
    "prometheus": Prometheus,
    "redis": Redis,
    "smtp": Smtp,
    "subgraph": Subgraph,
    "tcp": Tcp,
    "tls": Tls,
    "web3_contract_event": ContractEvent,
    "websocket": WebSocket,
    "whale_wallet": WhaleWallet,
}

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


RECEIVING: dict[str, type[Kind]] = {
    ReceiverType.HEARTBEAT: Heartbeat,
    ReceiverType.OPENTELEMETRY: OpenTelemetry,
    ReceiverType.PROMETHEUS: Prometheus,
}


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
