"""What a monitor of each type may say: the table of kinds, and how their configuration is read and written.

A kind is a frozen dataclass whose annotated bounds the collector checks with pydantic; the probe reads
the same classes without it. Names are snake_case here and camelCase in JSON.
"""

import dataclasses
import types
from collections.abc import Mapping
from dataclasses import MISSING, is_dataclass
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from shared.kinds.fields import Secret, camel
from shared.kinds.http import Http
from shared.kinds.tcp import Tcp

Kind = Http | Tcp

KINDS: dict[str, type[Kind]] = {
    "http": Http,
    "tcp": Tcp,
}

# Types that interface.md names and that do not run yet: refused by name, not as a misspelling.
NOT_YET = (
    "icmp",
    "tls",
    "heartbeat",
    "prometheus",
    "opentelemetry",
    "web3",
    "web3_contract_event",
    "gas_price",
    "whale_wallet",
    "liquidation",
    "defi_protocol",
    "subgraph",
    "bridge",
)


def load(type_: str, config: Mapping[str, Any]) -> Kind:
    """The kind that *config* (checked already, camelCase) describes; fields unknown here are left out.

    Raises KeyError for a type that this version does not know, TypeError for a missing field.
    """
    kind: Kind = _build(KINDS[type_], config)
    return kind


def secret_fields(kind: type[Any]) -> frozenset[str]:
    """The camelCase names of the top-level fields that are encrypted at rest and masked for readers."""
    return frozenset(
        camel(name)
        for name, hint in get_type_hints(kind, include_extras=True).items()
        if get_origin(hint) is Annotated and any(isinstance(mark, Secret) for mark in get_args(hint)[1:])
    )


def _build(cls: Any, values: Mapping[str, Any]) -> Any:
    arguments: dict[str, Any] = {}
    for name, (alias, nested, required) in _shape(cls).items():
        if alias in values:
            value = values[alias]
            arguments[name] = _build(nested, value) if nested and isinstance(value, Mapping) else value
        elif required:
            msg = f"{cls.__name__} lacks {alias}"
            raise TypeError(msg)
    return cls(**arguments)


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
    if get_origin(hint) in (Union, types.UnionType):
        return next((part for part in get_args(hint) if isinstance(part, type) and is_dataclass(part)), None)
    return None
