"""The types of monitors as cards to choose from: icon, name, and one sentence for each."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from collector.monitors.console.types import GROUPS
from shared.kinds import KINDS

_ICONS: Final[Mapping[str, str]] = {
    "Web and network": "globe",
    "Mail and databases": "database",
    "Push (heartbeats and metrics)": "inbox",
    "Web3": "chain",
}
_TEXTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "http": ("globe", "Website or API", "Requests a URL and checks status, body and certificate. HTTP."),
    "tcp": ("plug", "TCP port", "Connects to a port, and may send and expect text."),
    "icmp": ("pulse", "Ping", "Sends ICMP echo requests and checks how many are lost."),
    "tls": ("lock", "TLS certificate", "Warns before a certificate expires or is revoked."),
    "dns": ("page", "DNS record", "Asks a resolver for a record and checks the answer."),
    "websocket": ("swap", "WebSocket", "Opens a WebSocket, and may send and expect a message."),
    "grpc": ("swap", "gRPC health", "Asks a gRPC server for the health of a service."),
    "smtp": ("mail", "SMTP", "Greets a mail server, and may sign in."),
    "imap": ("mail", "IMAP", "Greets a mailbox server, and may sign in."),
    "pop3": ("mail", "POP3", "Greets a mailbox server, and may sign in."),
    "postgres": ("database", "PostgreSQL", "Connects to a PostgreSQL server, and may sign in."),
    "mysql": ("database", "MySQL or MariaDB", "Connects to a MySQL or MariaDB server, and may sign in."),
    "redis": ("database", "Redis", "Connects to a Redis server and pings it."),
    "heartbeat": ("heart", "Heartbeat", "Expects pings from a cron job or a worker, and misses them."),
    "prometheus": ("chart", "Prometheus", "Receives metrics by remote write and checks their values."),
    "opentelemetry": ("chart", "OpenTelemetry", "Receives metrics by OTLP and checks their values."),
    "web3": ("chain", "Node", "Asks a node of a chain whether it keeps up."),
    "gas_price": ("chain", "Gas price", "Alerts when the gas price of a chain crosses a threshold."),
    "subgraph": ("chain", "Subgraph", "Checks that a subgraph answers and how far it is behind."),
    "whale_wallet": ("chain", "Whale wallet", "Alerts of large transfers of an address."),
    "liquidation": ("chain", "Liquidation", "Alerts when the health of a loan becomes low."),
    "defi_protocol": ("chain", "DeFi protocol", "Checks value locked, oracle and price of a protocol."),
    "bridge": ("chain", "Bridge", "Compares both sides of a bridge, and how long transfers take."),
    "web3_contract_event": ("chain", "Contract event", "Alerts when a contract emits an event."),
}


@dataclass(frozen=True, slots=True)
class KindCard:
    """*icon*: its name among the console's icons."""

    type: str
    icon: str
    name: str
    sentence: str


def groups() -> dict[str, list[KindCard]]:
    """Return the cards of every type, by group."""
    return {group: [card(name) for name in names] for group, names in GROUPS.items()}


def card(type_: str) -> KindCard:
    """Return the card of a type; one without a text of its own has the question that its check answers."""
    if type_ in _TEXTS:
        return KindCard(type_, *_TEXTS[type_])
    group = next((group for group, names in GROUPS.items() if type_ in names), "")
    question = (sys.modules[KINDS[type_].__module__].__doc__ or "").strip()
    return KindCard(type_, _ICONS.get(group, "pulse"), type_.replace("_", " ").capitalize(), question)
