"""What the team of the demonstration has set up: people, channels, rules, windows and status pages."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from shared.clock import iso

Body = dict[str, Any]
# The public id of a monitor, or of a channel, by its name.
Named = Callable[[str], str]

# Address, name and role; those who are only invited come last.
PEOPLE: Final = (
    ("platform@example.com", "Platform lead", "admin"),
    ("first@example.com", "First on call", "editor"),
    ("second@example.com", "Second on call", "editor"),
    ("product@example.com", "Product owner", "viewer"),
    ("newcomer@example.com", "Newcomer", "viewer"),
)
INVITED: Final = "Newcomer"
TOKENS: Final = (
    ("Terraform", "read-write", "90d"),
    ("Grafana", "read-only", "never"),
    ("Deploy script", "read-write", "30d"),
)
# Nothing listens there: what is sent to it fails at once.
_NOWHERE: Final = "http://127.0.0.1:9"
# Deliveries of these fail.
BROKEN: Final = frozenset({"Old chat bot", "On-call phone"})


def channels(ping_url: str) -> list[Body]:
    """Channels of each kind; what really arrives arrives at this deployment itself, at *ping_url*."""
    wanted: tuple[tuple[str, str, Body], ...] = (
        ("Alert pipeline", "webhook", {"url": ping_url, "events": ["monitor.down", "monitor.up"]}),
        ("Chat #incidents", "slack", {"webhookUrl": ping_url, "channel": "#incidents"}),
        ("Chat #shop", "discord", {"webhookUrl": ping_url}),
        ("Team mail", "email", {"recipients": ["platform@example.com", "first@example.com"]}),
        ("On-call pager", "pagerduty", {"integrationKey": "0" * 32, "apiUrl": _NOWHERE}),
        ("On-call phone", "opsgenie", {"apiKey": "0" * 36, "apiUrl": _NOWHERE}),
        ("Night watch", "telegram", {"botToken": "123456:demo", "chatId": -100123, "apiUrl": _NOWHERE}),
        ("Old chat bot", "webhook", {"url": f"{_NOWHERE}/bot", "events": ["monitor.down"], "maxRetries": 2}),
    )  # fmt: skip
    return [{"name": name, "type": type_, "config": config} for name, type_, config in wanted]


def rules(channel: Named, monitor: Named) -> list[Body]:
    """Rules with and without conditions, and an escalation."""
    escalation = {"delayMinutes": 15, "escalateToChannels": [channel("On-call phone")], "maxEscalations": 2}
    return [
        {
            "name": "Critical services",
            "tags": ["critical"],
            "channels": [channel("Chat #incidents"), channel("On-call pager")],
            "escalationPolicy": escalation,
        },
        {"name": "Everything, by mail", "channels": [channel("Team mail")]},
        {
            "name": "Slow checkout",
            "conditions": {"latencyThresholdMs": 900, "consecutiveFailures": 3},
            "monitors": [monitor("Checkout API"), monitor("Cart API")],
            "channels": [channel("Chat #shop")],
        },
        {
            "name": "Error rate of the network",
            "conditions": {"errorRatePercent": 20, "windowMinutes": 15},
            "tags": ["team:network"],
            "channels": [channel("Chat #incidents")],
            "repeatMinutes": 60,
        },
        {
            "name": "Availability of partners",
            "conditions": {"availability": 99.5},
            "tags": ["external"],
            "channels": [channel("Team mail")],
        },
        {"name": "Night watch", "enabled": False, "channels": [channel("Night watch")]},
    ]


def windows(monitor: Named, began: datetime, now: datetime) -> list[Body]:
    """Maintenance every week, in progress, planned, over and switched off."""
    sunday = began + timedelta(days=(6 - began.weekday()) % 7 or 7)
    sunday = sunday.replace(hour=2, minute=0, second=0, microsecond=0)
    tills = [monitor(f"Till {number:03}") for number in range(40, 46)]
    return [
        {"name": "Database upgrades", "tags": {"team": "data"}, "start": iso(sunday), "duration": 3600,
         "rrule": "FREQ=WEEKLY", "description": "Minor versions, one replica after the other."},
        {"name": "Tills in the south get new routers", "monitors": tills,
         "start": iso(now - timedelta(minutes=25)), "duration": 3 * 3600},
        {"name": "Move of the warehouse", "monitors": [monitor("Warehouse API"), monitor("Stock API")],
         "start": iso(now + timedelta(hours=20)), "duration": 4 * 3600},
        {"name": "Router swap in Osaka", "monitors": [monitor("Office Osaka gateway")],
         "start": iso(now - timedelta(days=6)), "duration": 5400},
        {"name": "Winter freeze", "all": True, "start": iso(now + timedelta(days=30)), "duration": 86_400,
         "enabled": False},
    ]  # fmt: skip


_SHOWN: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("Shop", ("Home page website", "Search API", "Cart API", "Checkout API", "Product pages website")),
    ("Payments", ("Card payments API", "Refunds API", "Invoices API")),
    ("Accounts", ("Sign-in API", "Single sign-on API")),
    ("Delivery", ("Parcel tracking API", "Shipping labels API", "Returns API")),
)


def pages(monitor: Named, password: str) -> list[Body]:
    """A public page, one for developers that no search engine lists, and one behind a password."""
    shop = [
        {"name": name.rsplit(" ", 1)[0], "group": group, "monitorId": monitor(name)}
        for group, names in _SHOWN
        for name in names
    ]
    developers = [
        {
            "name": f"{name} API",
            "monitorId": monitor(f"{name} API"),
            "description": f"The {name.lower()} endpoints.",
        }
        for name in ("Orders", "Catalogue", "Webhooks")
    ]
    inside = [
        {"name": name, "group": "Tools", "monitorId": monitor(f"{name} website")}
        for name in ("Wiki", "Dashboards", "Ticket desk", "Build server", "Chat")
    ]
    return [
        {"name": "Example Shop", "slug": "shop", "components": shop, "branding": {"primaryColor": "#1f5fa8"}},
        {"name": "Example Developers", "slug": "developers", "visibility": "unlisted",
         "components": developers},
        {"name": "Inside Example", "slug": "inside", "visibility": "private", "password": password,
         "components": [*inside, {"name": "Coffee machine", "group": "Kitchen"}]},
    ]  # fmt: skip


# How long ago an incident began, how, and its updates: each so much later, its status and its text.
PageStory = tuple[timedelta, Body, Sequence[tuple[timedelta, str, str]]]


def page_incidents(now: datetime) -> list[PageStory]:
    """Incidents of the public page, the oldest first."""
    minute = timedelta(minutes=1)
    found: list[PageStory] = [
        ((days * 24 - 5) * 60 * minute, {"title": title, "severity": severity, "message": message}, updates)
        for days, title, severity, message, updates in _NEWS
    ]
    refunds = {"title": "Refunds are delayed", "severity": "minor", "message": "We are looking into it."}
    found.append((20 * minute, refunds, [(9 * minute, "identified", "A provider answers slowly.")]))
    start = now + timedelta(hours=20)
    planned = {
        "title": "Move of the warehouse",
        "severity": "maintenance",
        "message": "Delivery times may be out of date for an hour or two.",
        "scheduledStart": iso(start),
        "scheduledEnd": iso(start + timedelta(hours=4)),
    }
    found.append((90 * minute, planned, []))
    return sorted(found, key=lambda one: -one[0])


_M: Final = timedelta(minutes=1)
_NEWS: Final = (
    (71, "Checkout is not available", "critical", "Orders cannot be placed at the moment.", [
        (12 * _M, "identified", "A deploy broke the payment form. We are rolling it back."),
        (26 * _M, "monitoring", "The roll-back is done. We are watching the numbers."),
        (55 * _M, "resolved", "Orders work again."),
    ]),
    (52, "Search results are incomplete", "minor", "Some products are missing from search.", [
        (90 * _M, "resolved", "The index was rebuilt."),
    ]),
    (41, "Payments are slow", "major", "Card payments take longer than usual.", [
        (60 * _M, "identified", "A database is short of memory."),
        (600 * _M, "monitoring", "More memory was added."),
        (2_000 * _M, "resolved", "Response times are back to normal."),
    ]),
    (18, "Parcel tracking shows old data", "minor", "A partner sends updates late.", [
        (240 * _M, "resolved", "The partner caught up."),
    ]),
    (8, "Sign-in fails for some customers", "major", "Some customers cannot sign in with single sign-on.", [
        (25 * _M, "identified", "A certificate had expired."),
        (40 * _M, "resolved", "The certificate was renewed."),
    ]),
)  # fmt: skip
SUBSCRIBERS: Final = ("reader@example.com", "partner@example.com", "support@example.com")
