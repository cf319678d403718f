"""The checks by type, and how a configuration becomes one."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final

from probe.checks._check import Check as Check
from probe.checks._check import Kept as Kept


def _plain(name: str, kind: Any) -> Check:
    check: Check = import_module(f"probe.checks.{name}").prepare(kind)
    return check


def _lasting(name: str, kind: Any, kept: Kept) -> Check:
    check: Check = import_module(f"probe.web3.{name}").prepare(kind, kept)
    return check


# Each is a module of this package, which is loaded with the first monitor of its type. Its function makes a
# check from its kind's configuration (shared.kinds).
CHECKS: Final[dict[str, Callable[[Any], Check]]] = {
    name: partial(_plain, name)
    for name in (
        "dns",
        "grpc",
        "http",
        "icmp",
        "imap",
        "mysql",
        "pop3",
        "postgres",
        "redis",
        "smtp",
        "tcp",
        "tls",
        "websocket",
    )
}

# Each is a module of probe.web3, whose function makes a check that continues where the previous one ended.
LASTING: Final[dict[str, Callable[[Any, Kept], Check]]] = {
    "bridge": partial(_lasting, "bridge"),
    "defi_protocol": partial(_lasting, "defi_protocol"),
    "gas_price": partial(_lasting, "gas_price"),
    "liquidation": partial(_lasting, "liquidation"),
    "subgraph": partial(_lasting, "subgraph"),
    "web3_contract_event": partial(_lasting, "contract_event"),
    "whale_wallet": partial(_lasting, "whale_wallet"),
}
TYPES: Final = frozenset({*CHECKS, *LASTING})
# Types whose checks remember something between runs: chains that were verified, states of nodes.
REMEMBERING: Final = frozenset({*LASTING, "tls"})


def prepare(type_: str, kind: Any, kept: Kept) -> Check:
    """Make the check. Raises KeyError for a type not in `TYPES`, ValueError for one that cannot be run."""
    lasting = LASTING.get(type_)
    return CHECKS[type_](kind) if lasting is None else lasting(kind, kept)
