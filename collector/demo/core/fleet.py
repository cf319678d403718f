"""The monitors of the demonstration: 300 of every kind, in groups, with tags, the same for each seed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

Body = dict[str, Any]

LOCATIONS: Final = ("frankfurt", "virginia", "singapore")
# A node that exists nowhere: the demonstration sends nothing out.
RPC: Final = "https://rpc.example.com/"
ADDRESS: Final = "0x" + "5a" * 20
OTHER: Final = "0x" + "c3" * 20
MONITORS: Final = 300
# The job that takes the webhooks of the demonstration as its pings.
PIPELINE: Final = "Alert pipeline"
# Monitors of receivers, which no probe checks.
RECEIVED: Final = frozenset({"heartbeat", "prometheus", "opentelemetry"})


@dataclass(frozen=True, slots=True)
class PlannedMonitor:
    """A monitor to create: the *body* of the request, and its usual response time in ms.

    *swing*: by how much the response time rises in the busy hours, as a share of itself.
    """

    body: Body
    usual_ms: int
    swing: float

    @property
    def name(self) -> str:
        return str(self.body["name"])

    @property
    def type(self) -> str:
        return str(self.body["type"])

    @property
    def received(self) -> bool:
        return self.type in RECEIVED

    @property
    def interval_s(self) -> int:
        """Seconds between two results."""
        config = self.body["config"]
        return int(config.get("expectedInterval", self.body.get("interval", 300)))

    @property
    def locations(self) -> tuple[str, ...]:
        return tuple(self.body.get("locations", ()))


# The monitor that comes and goes at present.
FLAPPING: Final = "Chat website"
# Monitors without a result so far.
NEW: Final = ("Till 053", "Till 054")
# Monitors that others depend on: while those are down, nobody is notified of these.
PARENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "Archive replica": ("Archive primary",),
    "Till 012": ("Office Lagos gateway",),
    "Till 013": ("Office Lagos gateway",),
}

# Group, team, and its services with what is watched of each.
_SITES: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("Storefront", "shop", ("Home page", "Search", "Cart", "Checkout", "Product pages", "Image resizer")),
    ("Storefront", "shop", ("Recommendations", "Reviews", "Wish lists", "Gift cards", "Size finder")),
    ("Payments", "payments", ("Card payments", "Invoices", "Refunds", "Payouts", "Fraud check", "Ledger")),
    ("Identity", "platform", ("Sign-in", "Accounts", "Single sign-on", "Sessions", "Permissions")),
    ("Public API", "platform", ("Orders", "Catalogue", "Webhooks", "Rate limiter", "Developer portal")),
    ("Logistics", "logistics", ("Warehouse", "Shipping labels", "Parcel tracking", "Returns", "Stock")),
    ("Content", "web", ("Blog", "Help centre", "Documentation", "Careers", "Press", "Newsletter")),
    ("Internal tools", "it", ("Wiki", "Dashboards", "Ticket desk", "Build server", "Chat", "Directory")),
)
_VIEWS: Final = (("website", "", 420), ("API", "/v2/status", 180), ("health", "/healthz", 45))
_PARTNERS: Final = ("Parcel partner", "Tax service", "Exchange rates", "Address check", "SMS gateway", "Maps")
_JOBS: Final = (
    PIPELINE, "Nightly backup", "Invoice run", "Search index", "Sitemap", "Stock import", "Price feed",
    "Cache warm-up",
    "Mail digest", "Log rotation", "Certificate renewal", "Payout batch", "Cleanup of carts", "Fraud model",
    "Data export", "Report by mail", "Image cleanup", "Queue drain", "Currency rates", "Database vacuum",
    "Archive of orders", "Newsletter", "Licence check", "Asset upload", "Metrics rollup", "Restore drill",
    "Feed for partners", "Translation sync",
)  # fmt: skip
_DATABASES: Final = (
    ("orders", "postgres", 9), ("accounts", "postgres", 8), ("catalogue", "mysql", 11), ("carts", "redis", 2),
    ("sessions", "redis", 2), ("archive", "mysql", 22),
)  # fmt: skip
_CITIES: Final = ("fra", "iad", "sin", "gru", "syd", "lhr")


def monitors(random: Random) -> list[PlannedMonitor]:
    """All monitors, in the order in which they are created."""
    made = [*_sites(), *_edges(), *_data(), *_mail(), *_network(), *_certificates(), *_chains()]
    made += [*_received(), *_partners()]
    spare = MONITORS - len(made)
    made += [_branch(at) for at in range(spare)]
    return [_timed(one, random) for one in made]


def _timed(one: tuple[Body, int], random: Random) -> PlannedMonitor:
    body, usual = one
    return PlannedMonitor(body, max(1, round(usual * random.uniform(0.7, 1.4))), random.uniform(0.05, 0.5))


def _host(name: str) -> str:
    words = "".join(letter if letter.isalnum() else "-" for letter in name.lower())
    return f"{'-'.join(filter(None, words.split('-')))}.example.com"


def _body(name: str, type_: str, group: str, config: Mapping[str, Any], **more: Any) -> Body:
    body = {"name": name, "type": type_, "group": group, "config": dict(config), "interval": 300, **more}
    body.setdefault("locations", [LOCATIONS[len(name) % 3]])
    return body


def _sites() -> Iterator[tuple[Body, int]]:
    """The website, the API and the health check of each service."""
    for group, team, services in _SITES:
        for service in services:
            yield from (_site(group, team, service, view) for view in _VIEWS)


def _site(group: str, team: str, service: str, view: tuple[str, str, int]) -> tuple[Body, int]:
    kind, path, usual = view
    important = group in ("Storefront", "Payments", "Identity") and kind == "API"
    body = _body(
        f"{service} {kind}",
        "http",
        group,
        {"url": f"https://{_host(service)}{path or '/'}"},
        tags={"team": team, "env": "production"} | ({"critical": ""} if important else {}),
        interval=60 if important else 300,
        severity="critical" if important else "high" if kind == "API" else "medium",
        description=f"The {kind} of {service.lower()}, as customers see it.",
    )
    if important:
        body["locations"] = [*LOCATIONS]
        body["runbookUrl"] = f"https://wiki.example.com/runbooks/{_host(service).split('.')[0]}"
    return body, usual


def _edges() -> Iterator[tuple[Body, int]]:
    """What is reached from each city."""
    for city in _CITIES:
        where = {"tags": {"team": "network", "city": city}, "locations": [*LOCATIONS]}
        host = f"edge-{city}.example.com"
        yield _body(f"Edge {city} ping", "icmp", "Edge", {"host": host}, **where), 28
        yield _body(f"Edge {city} TLS port", "tcp", "Edge", {"host": host, "port": 443}, **where), 31
        live = {"url": f"wss://live-{city}.example.com/feed"}
        yield _body(f"Live prices {city}", "websocket", "Edge", live, **where), 95
        rpc = {"host": f"rpc-{city}.example.com", "port": 443, "tls": True}
        yield _body(f"Quotes {city}", "grpc", "Edge", rpc, **where), 64


def _data() -> Iterator[tuple[Body, int]]:
    for name, type_, usual in _DATABASES:
        for role in ("primary", "replica"):
            config = {"host": f"{name}-{role}.example.com"}
            tags = {"team": "data", "role": role}
            yield _body(f"{name.capitalize()} {role}", type_, "Databases", config, tags=tags), usual


def _mail() -> Iterator[tuple[Body, int]]:
    tags = {"team": "it"}
    for type_, host in (("smtp", "mx1"), ("smtp", "mx2"), ("imap", "mail"), ("pop3", "mail")):
        config = {"host": f"{host}.example.com"}
        yield _body(f"Mail {type_.upper()} {host}", type_, "Mail", config, tags=tags), 130


def _network() -> Iterator[tuple[Body, int]]:
    tags = {"team": "network"}
    config: dict[str, Any]
    for record in ("A", "AAAA", "MX", "NS", "TXT", "CAA"):
        config = {"host": "example.com", "recordType": record}
        yield _body(f"example.com {record} record", "dns", "Network", config, tags=tags), 18
    for name, port in (("VPN", 1194), ("Bastion", 22), ("LDAP", 636), ("Print server", 631), ("Proxy", 3128)):
        config = {"host": _host(name), "port": port}
        yield _body(f"{name} port {port}", "tcp", "Network", config, tags=tags), 12
    for office in ("Berlin", "Austin", "Osaka", "Lagos"):
        config = {"host": f"gw-{office.lower()}.example.com"}
        yield _body(f"Office {office} gateway", "icmp", "Network", config, tags=tags), 40


def _certificates() -> Iterator[tuple[Body, int]]:
    for name in ("www", "shop", "api", "login", "pay", "status", "mail", "docs", "cdn", "static"):
        config = {"domain": f"{name}.example.com"}
        tags = {"team": "platform"}
        yield (
            _body(f"Certificate {name}.example.com", "tls", "Certificates", config, tags=tags, interval=900),
            70,
        )


def _chains() -> Iterator[tuple[Body, int]]:
    node = {"rpcUrl": RPC}
    side = {"chain": "ethereum", "rpcUrl": RPC, "address": ADDRESS, "token": OTHER}
    bridge = {"source": side, "destination": {**side, "chain": "arbitrum"}}
    transfer = "Transfer(address indexed from, address indexed to, uint256 value)"
    event = {"chainId": 1, "address": ADDRESS, "eventName": transfer, **node}
    lending = {"chain": 1, "protocol": "aave_v3", "pool": OTHER, "address": ADDRESS, "minHealthFactor": 1.2}
    whale = {"chain": "polygon", "address": ADDRESS, "threshold": "1000.5", **node}
    vault = {"chain": "base", "contract": ADDRESS, "minTvl": "1000000", **node}
    graph = {"chain": "ethereum", "url": "https://graph.example.com/tokens", **node}
    wallet = {"subType": "gas_price", "chain": "base", "thresholds": {"high": 9}, **node}
    wanted: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("Gas on Ethereum", "gas_price", {"chain": "ethereum", "thresholds": {"high": 50, "low": 5}, **node}),
        ("Gas on Polygon", "gas_price", {"chain": "polygon", "thresholds": {"high": 300}, **node}),
        ("Treasury wallet", "whale_wallet", whale),
        ("Lending position", "liquidation", {**lending, **node}),
        ("Savings vault", "defi_protocol", vault),
        ("Token subgraph", "subgraph", graph),
        ("Bridge to Arbitrum", "bridge", bridge),
        ("Token transfers", "web3_contract_event", event),
        ("Gas, as the wallet asks", "web3", wallet),
    )  # fmt: skip
    for name, type_, config in wanted:
        yield _body(name, type_, "Chains", config, tags={"team": "web3"}), 210


def _received() -> Iterator[tuple[Body, int]]:
    """Jobs that ping, and agents that push."""
    for at, job in enumerate(_JOBS):
        hours = (1, 6, 24)[at % 3]
        config = {"expectedInterval": hours * 3600, "gracePeriod": 900}
        yield _job(_body(job, "heartbeat", "Scheduled jobs", config, tags={"team": "data"})), 40_000
    for name in ("Kubernetes nodes", "Database exporters", "Queue workers"):
        body = _body(name, "prometheus", "Agents", {"staleAfter": 300}, tags={"team": "platform"})
        yield _job(body), 0
    for name in ("Browser telemetry", "Order service"):
        body = _body(name, "opentelemetry", "Agents", {"staleAfter": 300}, tags={"team": "web"})
        yield _job(body), 0


def _job(body: Body) -> Body:
    """*body* without what only checks have."""
    return {name: value for name, value in body.items() if name not in ("locations", "interval")}


def _partners() -> Iterator[tuple[Body, int]]:
    for partner in _PARTNERS:
        config = {"url": f"https://{_host(partner)}/status", "expectedStatus": [200, 204]}
        yield (
            _body(
                partner, "http", "Partners", config, tags={"team": "payments", "external": ""}, severity="low"
            ),
            650,
        )


def _branch(at: int) -> tuple[Body, int]:
    """A shop on a street, of as many as it takes to fill the fleet."""
    config = {"url": f"https://till-{at + 1:03}.example.com/ping"}
    tags = {"team": "retail", "region": ("north", "south", "east", "west")[at % 4]}
    return _body(f"Till {at + 1:03}", "http", "Branches", config, tags=tags, severity="low"), 140
