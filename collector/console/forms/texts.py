"""What the fields of forms are called, and what is said beside them; those not listed go by their names."""

import re
from collections.abc import Mapping
from typing import Any, Final

from collector.console.forms.texts_web3 import WEB3_TEXTS
from collector.console.forms.value_texts import Said

_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SPELLED: Final[Mapping[str, str]] = {
    "url": "URL",
    "id": "ID",
    "tls": "TLS",
    "ip": "IP",
    "ttl": "Lifetime",
    "http": "HTTP",
    "css": "CSS",
    "api": "API",
    "rpc": "RPC",
    "dns": "DNS",
    "ca": "CA",
    "abi": "ABI",
}


# By the model's name and the field's; one with only the field's name is for every model.
TEXTS: Final[Mapping[str, Said]] = {
    **WEB3_TEXTS,
    "expiresIn": Said(
        label="Ends",
        help="One that never ends is easily forgotten and never missed.",
        words={"never": "never", "30d": "in 30 days", "90d": "in 90 days", "1y": "in a year"},
    ),
    "permission": Said(
        label="Permission",
        help="read-only sees, read-write changes, admin also manages users, tokens and probes.",
    ),
    "userId": Said(label="Whose", none="Mine"),
    "role": Said(
        label="Role", help="Viewers see, editors change, admins also manage users, tokens and probes."
    ),
    "email": Said(label="Email address"),
    "locations": Said(
        label="Locations", help="One a line: names of places, such as frankfurt or office.", control="lines"
    ),
    "interval": Said(label="Interval", unit="s", help="Between two checks at each location."),
    "timeout": Said(label="Timeout", unit="s"),
    "tags": Said(label="Tags", help="One a line: name: value."),
    "headers": Said(label="Headers", help="One a line: Name: value."),
    "severity": Said(label="Severity", help="Of its incidents."),
    "failureThreshold": Said(label="Failures until down", help="Failed checks in a row, at a location."),
    "recoveryThreshold": Said(label="Good checks until up", help="In a row, at a location."),
    "quorum": Said(label="Quorum", help="How many locations must agree: majority, any, all, or a number."),
    "dependsOn": Said(
        label="Depends on",
        help="Ids of monitors, one a line: while one of them is down, nobody is told of this one.",
        control="lines",
    ),
    "runbookUrl": Said(label="Runbook", help="A link that goes with every alert."),
    "expectedStatus": Said(label="Expected status", help="Such as 200, 200-299, or 200,301. Empty: any 2xx."),
    "expiryDays": Said(label="Days before its end", help="With fewer left it counts as failing."),
    "uses": Said(label="Probes that may join", help="After so many the token is used up."),
    "ttl": Said(label="Lifetime", unit="s", help="How long it can be used to join."),
    "Rule.channels": Said(label="Channels", help="Told at once, and when it is over.", control="checks"),
    "Rule.monitors": Said(label="By name", control="checks"),
    "notifyOnRecovery": Said(label="Tell when it is over, too"),
    "repeatMinutes": Said(label="Remind every", unit="min", help="Until it is taken on or over."),
    "Conditions.consecutiveFailures": Said(label="Failed checks in a row"),
    "Conditions.locations": Said(
        label="At which locations",
        words={"quorum": "at as many as the monitor asks for", "any": "at any of them"},
    ),
    "latencyThresholdMs": Said(label="Slower than", unit="ms"),
    "Conditions.statusCode": Said(label="Status", help="The status code of an answer, such as 503."),
    "errorRatePercent": Said(label="Failed checks, in the window", unit="%", help="This many or more."),
    "windowMinutes": Said(label="Window", unit="min"),
    "Conditions.availability": Said(label="Good checks, in the window", unit="%", help="Fewer than this."),
    "Conditions.match": Said(
        label="Fires for", words={"any": "any of what is filled in", "all": "all of it together"}
    ),
    "Escalation.delayMinutes": Said(label="After", unit="min", help="Empty: nobody else is told."),
    "Escalation.escalateToChannels": Said(label="Tell these, too", control="checks"),
    "Escalation.maxEscalations": Said(label="How often"),
    "PagerDuty.severity": Said(label="Severity", help="Of every alert.", none="As the incident's"),
    "Opsgenie.priority": Said(label="Priority", help="Of every alert.", none="By the incident's severity"),
    "Slack.channel": Said(label="Channel", help="Where the webhook allows another than its own."),
    "mentions": Said(label="Mentions", help="One a line: @here, or the id of a member or group."),
    "recipients": Said(label="Recipients", help="One a line."),
    "Webhook.events": Said(
        label="Events", help="One a line, such as incident.created or web3.*; none: outages and web3.*"
    ),
    "Webhook.monitors": Said(label="Of these monitors alone", help="Leave empty for all.", control="checks"),
    "Apprise.urls": Said(label="URLs", help="One a line, as Apprise has them.", control="lines"),
    "Fields.monitors": Said(label="By name", control="checks"),
    "Fields.all": Said(label="Every monitor"),
    "Fields.timezone": Said(
        label="Time zone", help="Start and end are by its clock, whatever daylight saving does."
    ),
    "rrule": Said(label="Repeats", help="An RRULE, such as FREQ=WEEKLY;BYDAY=SU. Empty: once."),
    "exdates": Said(label="Not on these days", help="One a line, as 2026-12-24."),
}


def said(cls: Any, alias: str) -> Said:
    """What is said of the field *alias* of a model."""
    return TEXTS.get(f"{cls.__name__}.{alias}") or TEXTS.get(alias) or Said(label=label(alias))


def label(alias: str) -> str:
    """``webhookUrl`` -> ``Webhook URL``."""
    words = [word.lower() for word in _CAPITAL.split(alias)]
    spelled = " ".join(_SPELLED.get(word, word) for word in words)
    return spelled[:1].upper() + spelled[1:]
