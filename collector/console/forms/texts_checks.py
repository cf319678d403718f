"""Labels, help and examples of the form fields of checks, heartbeats and metrics."""

from collections.abc import Mapping
from typing import Final

from collector.console.forms.value_texts import ValueText

CHECK_TEXTS: Final[Mapping[str, ValueText]] = {
    "MonitorSettings.name": ValueText(label="Name", example="Shop website"),
    "MonitorSettings.group": ValueText(
        label="Group", help="The list of monitors has it as a heading.", example="Shop"
    ),
    "Http.url": ValueText(
        label="URL", help="https:// is added if you leave it out.", example="https://example.com/health"
    ),
    "Websocket.url": ValueText(
        label="URL", help="wss:// is added if you leave it out.", example="wss://example.com/ws"
    ),
    "host": ValueText(label="Host", help="A host name or an IP address.", example="db.example.com"),
    "domain": ValueText(label="Domain", example="example.com"),
    "Tcp.port": ValueText(label="Port", example="443"),
    "Grpc.port": ValueText(label="Port", example="443"),
    "Http.body": ValueText(label="Request body"),
    "assertions": ValueText(
        label="Assertions",
        help="Further conditions on the answer: all of them must hold, otherwise the check fails.",
    ),
    "proxy": ValueText(
        label="Proxy", help="Requests go through it.", example="http://proxy.example.com:3128"
    ),
    "clientCert": ValueText(label="Client certificate", help="In PEM, for mutual TLS; its key is below."),
    "clientKey": ValueText(label="Client key", help="In PEM: the private key of the certificate above."),
    "maxBodyBytes": ValueText(label="Body is read up to", unit="bytes"),
    "followRedirects": ValueText(label="Follow redirects"),
    "maxLossPercent": ValueText(label="Most packets lost", unit="%", help="With more the check fails."),
    "packetSize": ValueText(label="Packet size", unit="bytes"),
    "Icmp.count": ValueText(label="Packets", help="Sent by each check."),
    "resolver": ValueText(label="Resolver", help="Empty: that of the probe.", example="9.9.9.9"),
    "expectedInterval": ValueText(
        label="Expected interval",
        help="In seconds, or as 15m, 24h, 7d. Or give a cron expression.",
        example="24h",
    ),
    "cron": ValueText(
        label="Cron expression",
        help="In place of the interval: minute, hour, day of month, month, day of week.",
        example="30 2 * * *",
    ),
    "Heartbeat.timezone": ValueText(label="Time zone of the cron expression", example="Europe/Berlin"),
    "gracePeriod": ValueText(
        label="Grace period", help="How late a ping may be, in seconds or as 5m, 1h.", example="5m"
    ),
    "maxRunTime": ValueText(
        label="Longest run",
        help="Between the ping that starts a run and the one that ends it, in seconds or as 10m, 2h.",
        example="2h",
    ),
    "minInterval": ValueText(
        label="Shortest time between pings",
        help="A ping that ends a run sooner fails the check. In seconds or as 5m, 1h.",
        example="10m",
    ),
    "armOnFirstPing": ValueText(label="Wait for the first ping before any is expected"),
    "labelFilters": ValueText(
        label="Label filters",
        help="Only series with these labels count. One per line: name: value.",
        example="job: node",
    ),
    "resourceAttributes": ValueText(
        label="Resource attributes",
        help="Only metrics of such resources count. One per line: name: value.",
        example="service.name: shop",
    ),
    "staleAfter": ValueText(
        label="Stale after",
        unit="s",
        help="Without metrics for so long the monitor is down. Empty: three intervals.",
    ),
}
