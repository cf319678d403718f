"""Labels and help of form fields; those not listed are labelled by their names."""

import re
from collections.abc import Mapping
from typing import Any, Final

from collector.console.forms.texts_web3 import WEB3_TEXTS
from collector.console.forms.value_texts import ValueText

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


# By the model's name and the field's; a field's name alone applies to every model.
TEXTS: Final[Mapping[str, ValueText]] = {
    **WEB3_TEXTS,
    "expiresIn": ValueText(
        label="Ends",
        help="One that never ends is easily forgotten and never missed.",
        words={"never": "never", "30d": "in 30 days", "90d": "in 90 days", "1y": "in a year"},
    ),
    "permission": ValueText(
        label="Permission",
        help="read-only sees, read-write changes, admin also manages users, tokens and probes.",
    ),
    "userId": ValueText(label="Whose", none="Mine"),
    "role": ValueText(
        label="Role", help="Viewers see, editors change, admins also manage users, tokens and probes."
    ),
    "email": ValueText(label="Email address"),
    "locations": ValueText(
        label="Locations", help="One a line: names of places, such as frankfurt or office.", control="lines"
    ),
    "interval": ValueText(label="Interval", unit="s", help="Between two checks at each location."),
    "timeout": ValueText(label="Timeout", unit="s"),
    "tags": ValueText(label="Tags", help="One a line: name: value."),
    "headers": ValueText(label="Headers", help="One a line: Name: value."),
    "severity": ValueText(label="Severity", help="Of its incidents."),
    "failureThreshold": ValueText(label="Failures until down", help="Failed checks in a row, at a location."),
    "recoveryThreshold": ValueText(label="Good checks until up", help="In a row, at a location."),
    "quorum": ValueText(
        label="Quorum", help="How many locations must agree: majority, any, all, or a number."
    ),
    "dependsOn": ValueText(
        label="Depends on",
        help="Ids of monitors, one a line: while one of them is down, nobody is told of this one.",
        control="lines",
    ),
    "runbookUrl": ValueText(label="Runbook", help="A link that goes with every alert."),
    "expectedStatus": ValueText(
        label="Expected status", help="Such as 200, 200-299, or 200,301. Empty: any 2xx."
    ),
    "expiryDays": ValueText(label="Days before its end", help="With fewer left it counts as failing."),
    "uses": ValueText(label="Probes that may join", help="After so many the token is used up."),
    "ttl": ValueText(label="Lifetime", unit="s", help="How long it can be used to join."),
    "RuleSettings.channels": ValueText(
        label="Channels", help="Told at once, and when it is over.", control="checks"
    ),
    "RuleSettings.monitors": ValueText(label="By name", control="checks"),
    "notifyOnRecovery": ValueText(label="Tell when it is over, too"),
    "repeatMinutes": ValueText(label="Remind every", unit="min", help="Until it is taken on or over."),
    "Conditions.consecutiveFailures": ValueText(label="Failed checks in a row"),
    "Conditions.locations": ValueText(
        label="At which locations",
        words={"quorum": "at as many as the monitor asks for", "any": "at any of them"},
    ),
    "latencyThresholdMs": ValueText(label="Slower than", unit="ms"),
    "Conditions.statusCode": ValueText(label="Status", help="The status code of an answer, such as 503."),
    "errorRatePercent": ValueText(label="Failed checks, in the window", unit="%", help="This many or more."),
    "windowMinutes": ValueText(label="Window", unit="min"),
    "Conditions.availability": ValueText(
        label="Good checks, in the window", unit="%", help="Fewer than this."
    ),
    "Conditions.match": ValueText(
        label="Fires for", words={"any": "any of what is filled in", "all": "all of it together"}
    ),
    "Escalation.delayMinutes": ValueText(label="After", unit="min", help="Empty: nobody else is told."),
    "Escalation.escalateToChannels": ValueText(label="Tell these, too", control="checks"),
    "Escalation.maxEscalations": ValueText(label="How often"),
    "PagerDuty.severity": ValueText(label="Severity", help="Of every alert.", none="As the incident's"),
    "Opsgenie.priority": ValueText(
        label="Priority", help="Of every alert.", none="By the incident's severity"
    ),
    "Slack.channel": ValueText(label="Channel", help="Where the webhook allows another than its own."),
    "mentions": ValueText(label="Mentions", help="One a line: @here, or the id of a member or group."),
    "recipients": ValueText(label="Recipients", help="One a line."),
    "Webhook.events": ValueText(
        label="Events", help="One a line, such as incident.created or web3.*; none: outages and web3.*"
    ),
    "Webhook.monitors": ValueText(
        label="Of these monitors alone", help="Leave empty for all.", control="checks"
    ),
    "Apprise.urls": ValueText(label="URLs", help="One a line, as Apprise has them.", control="lines"),
    "Fields.monitors": ValueText(label="By name", control="checks"),
    "Fields.all": ValueText(label="Every monitor"),
    "Fields.timezone": ValueText(
        label="Time zone", help="Start and end are by its clock, whatever daylight saving does."
    ),
    "rrule": ValueText(label="Repeats", help="An RRULE, such as FREQ=WEEKLY;BYDAY=SU. Empty: once."),
    "exdates": ValueText(label="Not on these days", help="One a line, as 2026-12-24."),
}


def said(cls: Any, alias: str) -> ValueText:
    """Return the texts of the field *alias* of a model."""
    return TEXTS.get(f"{cls.__name__}.{alias}") or TEXTS.get(alias) or ValueText(label=label(alias))


def label(alias: str) -> str:
    """``webhookUrl`` -> ``Webhook URL``."""
    words = [word.lower() for word in _CAPITAL.split(alias)]
    spelled = " ".join(_SPELLED.get(word, word) for word in words)
    return spelled[:1].upper() + spelled[1:]
