"""The checks by type, and how a configuration becomes one."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final

from probe.checks._check import Check as Check
from probe.checks._check import Kept as Kept
from probe.checks.dns import prepare as prepare_dns
from probe.checks.grpc import prepare as prepare_grpc
from probe.checks.http import prepare as prepare_http
from probe.checks.icmp import prepare as prepare_icmp
from probe.checks.imap import prepare as prepare_imap
from probe.checks.mysql import prepare as prepare_mysql
from probe.checks.pop3 import prepare as prepare_pop3
from probe.checks.postgres import prepare as prepare_postgres
from probe.checks.redis import prepare as prepare_redis
from probe.checks.smtp import prepare as prepare_smtp
from probe.checks.tcp import prepare as prepare_tcp
from probe.checks.tls import prepare as prepare_tls
from probe.checks.websocket import prepare as prepare_websocket


def _web3(name: str, kind: Any, kept: Kept) -> Check:
    """Load the module on first use: it is large and seldom needed."""
    check: Check = import_module(f"probe.web3.{name}").prepare(kind, kept)
    return check


# Each function makes a check from its kind's configuration (shared.kinds).
CHECKS: Final[dict[str, Callable[[Any], Check]]] = {
    "dns": prepare_dns,
    "grpc": prepare_grpc,
    "http": prepare_http,
    "icmp": prepare_icmp,
    "imap": prepare_imap,
    "mysql": prepare_mysql,
    "pop3": prepare_pop3,
    "postgres": prepare_postgres,
    "redis": prepare_redis,
    "smtp": prepare_smtp,
    "tcp": prepare_tcp,
    "tls": prepare_tls,
    "websocket": prepare_websocket,
}

# Each function makes a check that continues where the previous one ended.
LASTING: Final[dict[str, Callable[[Any, Kept], Check]]] = {
    "bridge": partial(_web3, "bridge"),
    "defi_protocol": partial(_web3, "defi_protocol"),
    "gas_price": partial(_web3, "gas_price"),
    "liquidation": partial(_web3, "liquidation"),
    "subgraph": partial(_web3, "subgraph"),
    "web3_contract_event": partial(_web3, "contract_event"),
    "whale_wallet": partial(_web3, "whale_wallet"),
}
TYPES: Final = frozenset({*CHECKS, *LASTING})
# Types whose checks remember something between runs: chains that were verified, states of nodes.
REMEMBERING: Final = frozenset({*LASTING, "tls"})


def prepare(type_: str, kind: Any, kept: Kept) -> Check:
    """Make the check. Raises KeyError for a type not in `TYPES`, ValueError for one that cannot be run."""
    lasting = LASTING.get(type_)
    return CHECKS[type_](kind) if lasting is None else lasting(kind, kept)
