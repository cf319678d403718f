"""Words of states, kinds and roles that pages show as the API has them: marked here to be translated."""

from typing import Final

WORDS: Final = (
    # Monitors and their checks.
    *("up", "down", "degraded", "flapping", "unmeasured", "new", "paused", "unknown", "silenced", "silent"),
    *("muted", "maintenance", "connect", "first byte", "transfer", "bytes"),
    # Why notifications of a monitor are held back.
    *("Paused", "Unmeasured", "Maintenance", "Parent down", "Parent awaited", "Flapping", "Acknowledged"),
    *("Snoozed", "Resolved by hand", "No voters"),
    # Incidents, alerts and their timelines.
    *("open", "acknowledged", "resolved", "firing", "recovered", "created", "reopened", "note added"),
    *("unacknowledged",),
    *("location failing", "location recovered", "parent down", "severity changed", "snoozed", "snooze ended"),
    *("monitor deleted", "notified", "escalated", "notification failed", "low", "medium", "high", "critical"),
    # Deliveries, probes, maintenance windows.
    *("pending", "delivered", "failed", "online", "offline", "draining", "revoked", "blind"),
    *("scheduled", "active", "ended", "disabled"),
    # People.
    *("viewer", "editor", "admin", "read-only", "read-write", "invited", "off", "key", "token"),
    # Status pages.
    *("public", "private", "unlisted", "operational", "degraded performance", "partial outage"),
    *("major outage", "none", "minor", "major"),
    # Settings.
    *("any", "all", "majority", "light", "dark", "comfortable", "compact"),
    # Reports, and their periods.
    *("day", "week", "month", "quarter", "custom", "ready"),
    # Time.
    *("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul"),
    *("Aug", "Sep", "Oct", "Nov", "Dec"),
)

# Texts that scripts show; each is `translate("...")` in a script.
SCRIPT_TEXTS: Final = (
    "%(count)s selected",
    "%(name)s from a file",
    "%(name)s: place %(place)s",
    "Connection lost; trying again",
    "Copied",
    "Delete %(count)s monitor and its history? This cannot be undone.",
    "Delete %(count)s monitors and their history? This cannot be undone.",
    "%(severity)s incident",
    "Move %(name)s: drag, or use the arrow keys",
    "No results",
    "Off in this browser.",
    "On in this browser.",
    "The search did not answer. Press Enter to try again.",
    "This browser refuses them: allow notifications for this site in its settings.",
    "This differs from what stands above.",
    "Times in %(zone)s",
    "Turn off in this browser",
    "Turn on in this browser",
    "Yes",
    "Your session had ended. What you typed is filled in again; it has not been sent yet.",
    "low",
    "medium",
    "high",
    "critical",
)
