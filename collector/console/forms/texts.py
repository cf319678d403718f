"""Labels and help of form fields; those not listed are labelled by their names."""

import re
from collections.abc import Mapping
from typing import Any, Final

from collector.console.forms.texts_checks import CHECK_TEXTS
from collector.console.forms.texts_web3 import WEB3_TEXTS
from collector.console.forms.value_texts import ValueText
from collector.console.language import NAMES, TAGS

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
    **CHECK_TEXTS,
    "expiresIn": ValueText(
        label="Expires",
        help="Tokens without expiry are easily forgotten.",
        words={"never": "never", "30d": "in 30 days", "90d": "in 90 days", "1y": "in a year"},
    ),
    "Branding.look": ValueText(
        label="Look",
        words={"banner": "header in the primary colour", "plain": "header in the colour of the page"},
    ),
    "Branding.logo": ValueText(label="Logo", help="URL of an image, or a file up to 256 KiB."),
    "Branding.logoDark": ValueText(label="Logo for dark screens", help="Without it, the logo is shown."),
    "Branding.favicon": ValueText(label="Icon", help="In the browser's tab."),
    "Branding.links": ValueText(label="Links in the header"),
    "Branding.supportUrl": ValueText(
        label="Support", help="A link in the header.", example="mailto:help@example.com"
    ),
    "permission": ValueText(
        label="Permission",
        help="read-only sees, read-write changes, admin also manages users, tokens and probes.",
    ),
    "userId": ValueText(label="Owner", none="Me"),
    "role": ValueText(
        label="Role", help="Viewers see, editors change, admins also manage users, tokens and probes."
    ),
    "email": ValueText(label="Email address"),
    "locations": ValueText(
        label="Locations", help="One per line, such as frankfurt or office.", control="lines"
    ),
    "interval": ValueText(label="Interval", unit="s", help="Between two checks at each location."),
    "timeout": ValueText(label="Timeout", unit="s"),
    "tags": ValueText(label="Tags", help="One per line: name: value."),
    "headers": ValueText(label="Headers", help="One per line: Name: value."),
    "severity": ValueText(label="Severity", help="Severity of incidents this monitor opens."),
    "failureThreshold": ValueText(label="Failure threshold", help="Consecutive failed checks at a location."),
    "recoveryThreshold": ValueText(
        label="Recovery threshold", help="Consecutive successful checks at a location."
    ),
    "quorum": ValueText(
        label="Quorum", help="How many locations must agree: majority, any, all, or a number."
    ),
    "dependsOn": ValueText(
        label="Depends on",
        help="Alerts are suppressed while any of these monitors is down.",
        control="checks",
    ),
    "MonitorSettings.locations": ValueText(
        label="Locations", help="Without a selection: every location that has a probe.", control="checks"
    ),
    "AccessSettings.networks": ValueText(
        label="Networks",
        help="One address range per line, as 192.0.2.0/24: from there the page is open to everybody.",
    ),
    "AccessSettings.issuer": ValueText(
        label="Issuer", help="URL of the OpenID Connect provider, exactly as it spells it."
    ),
    "AccessSettings.clientId": ValueText(label="Client id"),
    "AccessSettings.clientSecret": ValueText(label="Client secret"),
    "AccessSettings.emailDomains": ValueText(
        label="Email domains", help="One per line, as example.com: who has such an address may enter."
    ),
    "twoFactorRequired": ValueText(
        label="Require two-factor authentication",
        help="Members without it set it up at their next request, and see nothing else before. "
        "Sign-in by your provider and API tokens stay as they are.",
    ),
    "forNewMonitors": ValueText(
        label="Proposed for new monitors", help="New monitors notify this channel unless you choose others."
    ),
    "runbookUrl": ValueText(label="Runbook", help="A link included in every alert."),
    "expectedStatus": ValueText(
        label="Expected status", help="Such as 200, 200-299, or 200,301. Empty: any 2xx."
    ),
    "expiryDays": ValueText(label="Days before expiry", help="With fewer days left the check fails."),
    "uses": ValueText(label="Probes that may join", help="The token is used up after this many."),
    "ttl": ValueText(label="Lifetime", unit="s", help="How long the token can be used."),
    "RuleSettings.channels": ValueText(
        label="Channels", help="Notified at once and on recovery.", control="checks"
    ),
    "RuleSettings.monitors": ValueText(label="By name", control="checks"),
    "notifyOnRecovery": ValueText(label="Also notify on recovery"),
    "repeatMinutes": ValueText(label="Remind every", unit="min", help="Until acknowledged or resolved."),
    "Conditions.consecutiveFailures": ValueText(label="Failed checks in a row"),
    "Conditions.locations": ValueText(
        label="At which locations",
        words={"quorum": "at as many as the monitor's quorum", "any": "at any of them"},
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
    "Escalation.delayMinutes": ValueText(label="After", unit="min", help="Empty: no escalation."),
    "Escalation.escalateToChannels": ValueText(label="Also notify", control="checks"),
    "Escalation.maxEscalations": ValueText(label="How often"),
    "PagerDuty.severity": ValueText(label="Severity", help="Of every alert.", none="As the incident's"),
    "Opsgenie.priority": ValueText(
        label="Priority", help="Of every alert.", none="By the incident's severity"
    ),
    "Slack.channel": ValueText(label="Channel", help="Where the webhook allows another than its own."),
    "mentions": ValueText(label="Mentions", help="One per line: @here, or the id of a member or group."),
    "recipients": ValueText(label="Recipients", help="One per line."),
    "Webhook.events": ValueText(
        label="Events", help="One per line, such as incident.created or web3.*; none: outages and web3.*"
    ),
    "Webhook.monitors": ValueText(label="Only these monitors", help="Leave empty for all.", control="checks"),
    "Apprise.urls": ValueText(label="URLs", help="One per line, as Apprise has them.", control="lines"),
    "Fields.monitors": ValueText(label="By name", control="checks"),
    "Fields.all": ValueText(label="All monitors"),
    "Fields.timezone": ValueText(
        label="Time zone", help="Start and end follow its clock, also across daylight saving changes."
    ),
    "Display.language": ValueText(
        label="Language", words={tag: NAMES[tag] for tag in TAGS}, none="As the browser"
    ),
    "ReportFields.statusPage": ValueText(label="Of a status page", none="No status page"),
    "ReportFields.monitors": ValueText(label="By name", control="checks"),
    "ReportFields.period": ValueText(
        label="Length",
        words={"week": "a week", "month": "a month", "quarter": "a quarter", "custom": "the days below"},
    ),
    "ReportFields.firstDay": ValueText(label="First day", help="Of given days only.", example="2026-10-01"),
    "ReportFields.lastDay": ValueText(label="Last day", help="Of given days only.", example="2026-10-31"),
    "ReportFields.timezone": ValueText(label="Time zone", help="Of the days and hours."),
    "ReportFields.sendHour": ValueText(
        label="Hour", help="At which it is computed and mailed, on the day after the period."
    ),
    "ReportFields.businessHours": ValueText(
        label="Business hours",
        help="Accounted for separately; a target counts within them.",
        example="Mo-Fr 08:00-18:00, Sa 09:00-12:00",
    ),
    "ReportFields.target": ValueText(label="Target", unit="%", help="The uptime that was promised."),
    "ReportFields.recipients": ValueText(label="Mail to", help="One address per line."),
    "ReportFields.enabled": ValueText(label="Compute by itself after each period"),
    "Display.timezone": ValueText(
        label="Time zone",
        help="Of all times in the console. Empty: that of the device.",
        example="Europe/Berlin",
    ),
    "Display.clock": ValueText(
        label="Clock", words={"24h": "24 hours, 17:30", "12h": "12 hours, 5:30 pm"}, none="As the device"
    ),
    "Display.theme": ValueText(label="Theme", none="As the device"),
    "Display.density": ValueText(label="Rows"),
    "rrule": ValueText(label="Repeats", help="An RRULE, such as FREQ=WEEKLY;BYDAY=SU. Empty: once."),
    "exdates": ValueText(label="Not on these days", help="One per line, as 2026-12-24."),
}


def said(cls: Any, alias: str) -> ValueText:
    """Return the texts of the field *alias* of a model."""
    return TEXTS.get(f"{cls.__name__}.{alias}") or TEXTS.get(alias) or ValueText(label=label(alias))


def label(alias: str) -> str:
    """``webhookUrl`` -> ``Webhook URL``."""
    words = [word.lower() for word in _CAPITAL.split(alias)]
    spelled = " ".join(_SPELLED.get(word, word) for word in words)
    return spelled[:1].upper() + spelled[1:]
