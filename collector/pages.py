"""Every page of the console, on one screen: its path, its view, and what the visitor must be permitted."""

from typing import Final

from aiohttp import web

from collector.accounts.console import account, door, links, openid, team, tokens, users
from collector.alerts.console import alerts, rules
from collector.console import common, edge
from collector.console.render import Link
from collector.console.site import Page, Site
from collector.incidents import console as incidents
from collector.maintenance import console as maintenance
from collector.monitors.console import forms, home, monitor, monitors, reports
from collector.notifications import console as channels
from collector.platform.access import Permission
from collector.probes import console as settings_probes
from collector.routes import ROUTES
from collector.status_pages.console import rows

_LIKE: Final = {(method, path): needs for method, path, _, needs in ROUTES}


def like(method: str, path: str) -> Permission:
    """What the API asks of who does the same there."""
    needs = _LIKE[method, path]
    if needs is None:
        raise ValueError(f"{method} {path} asks for no token")
    return needs


ANYBODY, READ = None, Permission.READ_ONLY

PAGES: Final[tuple[Page, ...]] = (
    Page("GET", "/assets/{version}/{name}", common.asset, ANYBODY),
    Page("GET", "/sign-in", door.show, ANYBODY),
    Page("POST", "/sign-in", door.enter, ANYBODY),
    Page("GET", "/sign-in/oidc", openid.go, ANYBODY),
    Page("GET", "/sign-in/oidc/callback", openid.back, ANYBODY),
    Page("POST", "/sign-out", door.leave, READ),
    Page("POST", "/sign-out-everywhere", door.leave_everywhere, READ),
    Page("GET", "/confirm/{secret}", links.asked, ANYBODY),
    Page("POST", "/confirm/{secret}", links.confirm, ANYBODY),
    Page("GET", "/invitations/{secret}", links.invited, ANYBODY),
    Page("POST", "/invitations/{secret}", links.join, ANYBODY),
    Page("GET", "/reset/{secret}", links.reset, ANYBODY),
    Page("POST", "/reset/{secret}", links.set_password, ANYBODY),
    Page("GET", "/setup/{secret}", links.set_up, ANYBODY),
    Page("POST", "/setup/{secret}", links.take_over, ANYBODY),
    Page("GET", "/forgot", links.forgot, ANYBODY),
    Page("POST", "/forgot", links.ask, ANYBODY),
    Page("GET", "/events", common.stream, like("GET", "/v1/events")),
    Page("GET", "/", home.show, like("GET", "/v1/monitors")),
    Page("GET", "/monitors", monitors.list_, like("GET", "/v1/monitors")),
    Page("POST", "/monitors", forms.create, like("POST", "/v1/monitors")),
    Page("GET", "/monitors/new", forms.new, like("POST", "/v1/monitors")),
    Page("POST", "/monitors/test", forms.test, like("POST", "/v1/monitors/test")),
    Page("POST", "/monitors/bulk", monitors.carry_out, like("POST", "/v1/monitors/bulk")),
    Page("GET", "/monitors/{id}", monitor.show, like("GET", "/v1/monitors/{id}")),
    Page("GET", "/monitors/{id}/edit", forms.edit, like("PUT", "/v1/monitors/{id}")),
    Page("POST", "/monitors/{id}/edit", forms.update, like("PUT", "/v1/monitors/{id}")),
    Page("POST", "/monitors/{id}/pause", monitor.pause, like("POST", "/v1/monitors/{id}/pause")),
    Page("POST", "/monitors/{id}/resume", monitor.resume, like("POST", "/v1/monitors/{id}/resume")),
    Page("POST", "/monitors/{id}/silence", monitor.silence, like("POST", "/v1/monitors/{id}/silence")),
    Page("POST", "/monitors/{id}/unsilence", monitor.unsilence, like("DELETE", "/v1/monitors/{id}/silence")),
    Page(
        "POST",
        "/monitors/{id}/rotate-key",
        reports.rotate,
        like("POST", "/v1/monitors/{id}/rotate-key"),
    ),
    Page("POST", "/monitors/{id}/delete", monitor.delete, like("DELETE", "/v1/monitors/{id}")),
    Page("GET", "/incidents", incidents.list_, like("GET", "/v1/incidents")),
    Page("POST", "/incidents", incidents.create, like("POST", "/v1/incidents")),
    Page("GET", "/incidents/new", incidents.new, like("POST", "/v1/incidents")),
    Page("GET", "/incidents/stats", incidents.stats, like("GET", "/v1/incidents/stats")),
    Page("GET", "/incidents/{id}", incidents.show, like("GET", "/v1/incidents/{id}")),
    Page(
        "GET",
        "/incidents/{id}/postmortem",
        incidents.post_mortem,
        like("GET", "/v1/incidents/{id}/postmortem"),
    ),
    Page(
        "POST",
        "/incidents/{id}/acknowledge",
        incidents.acknowledge,
        like("POST", "/v1/incidents/{id}/acknowledge"),
    ),
    Page("POST", "/incidents/{id}/resolve", incidents.resolve, like("POST", "/v1/incidents/{id}/resolve")),
    Page("POST", "/incidents/{id}/reopen", incidents.reopen, like("POST", "/v1/incidents/{id}/reopen")),
    Page("POST", "/incidents/{id}/notes", incidents.note, like("POST", "/v1/incidents/{id}/notes")),
    Page("GET", "/alerting", common.section, READ),
    Page("GET", "/alerting/rules", rules.list_, like("GET", "/v1/alert-rules")),
    Page("POST", "/alerting/rules", rules.create, like("POST", "/v1/alert-rules")),
    Page("GET", "/alerting/rules/new", rules.new, like("POST", "/v1/alert-rules")),
    Page("POST", "/alerting/rules/preview", rules.preview, like("POST", "/v1/alert-rules/preview")),
    Page("GET", "/alerting/rules/{id}/edit", rules.edit, like("PUT", "/v1/alert-rules/{id}")),
    Page("POST", "/alerting/rules/{id}/edit", rules.update, like("PUT", "/v1/alert-rules/{id}")),
    Page("POST", "/alerting/rules/{id}/delete", rules.delete, like("DELETE", "/v1/alert-rules/{id}")),
    Page("GET", "/alerting/channels", channels.list_, like("GET", "/v1/alert-channels")),
    Page("POST", "/alerting/channels", channels.create, like("POST", "/v1/alert-channels")),
    Page("GET", "/alerting/channels/new", channels.new, like("POST", "/v1/alert-channels")),
    Page("GET", "/alerting/channels/{id}", channels.show, like("GET", "/v1/alert-channels/{id}/deliveries")),
    Page("GET", "/alerting/channels/{id}/edit", channels.edit, like("PUT", "/v1/alert-channels/{id}")),
    Page("POST", "/alerting/channels/{id}/edit", channels.update, like("PUT", "/v1/alert-channels/{id}")),
    Page("POST", "/alerting/channels/{id}/test", channels.test, like("POST", "/v1/alert-channels/{id}/test")),
    Page(
        "POST", "/alerting/channels/{id}/delete", channels.delete, like("DELETE", "/v1/alert-channels/{id}")
    ),
    Page(
        "POST",
        "/alerting/channels/{channel}/deliveries/{id}/again",
        channels.again,
        like("POST", "/v1/deliveries/{id}/redeliver"),
    ),
    Page("GET", "/alerting/alerts", alerts.list_, like("GET", "/v1/alerts")),
    Page(
        "POST",
        "/alerting/alerts/{id}/acknowledge",
        alerts.acknowledge,
        like("POST", "/v1/alerts/{id}/acknowledge"),
    ),
    Page("POST", "/alerting/alerts/{id}/resolve", alerts.resolve, like("POST", "/v1/alerts/{id}/resolve")),
    Page("GET", "/alerting/maintenance", maintenance.list_, like("GET", "/v1/maintenance-windows")),
    Page("POST", "/alerting/maintenance", maintenance.create, like("POST", "/v1/maintenance-windows")),
    Page("GET", "/alerting/maintenance/new", maintenance.new, like("POST", "/v1/maintenance-windows")),
    Page(
        "GET",
        "/alerting/maintenance/{id}/edit",
        maintenance.edit,
        like("PUT", "/v1/maintenance-windows/{id}"),
    ),
    Page(
        "POST",
        "/alerting/maintenance/{id}/edit",
        maintenance.update,
        like("PUT", "/v1/maintenance-windows/{id}"),
    ),
    Page(
        "POST",
        "/alerting/maintenance/{id}/end",
        maintenance.end,
        like("POST", "/v1/maintenance-windows/{id}/end"),
    ),
    Page(
        "POST",
        "/alerting/maintenance/{id}/delete",
        maintenance.delete,
        like("DELETE", "/v1/maintenance-windows/{id}"),
    ),
    *(Page(method, path, view, like(does, f"/v1{at}")) for method, path, view, does, at in rows.ROWS),
    Page("GET", "/settings", common.section, READ),
    Page("GET", "/settings/account", account.show, READ),
    Page("POST", "/settings/account/password", account.set_password, READ),
    Page("POST", "/settings/account/sessions/{id}/end", account.end, READ),
    Page("GET", "/settings/tokens", tokens.list_, like("GET", "/v1/tokens")),
    Page("GET", "/settings/tokens/new", tokens.new, like("POST", "/v1/tokens")),
    Page("POST", "/settings/tokens", tokens.create, like("POST", "/v1/tokens")),
    Page("POST", "/settings/tokens/{id}/revoke", tokens.revoke, like("DELETE", "/v1/tokens/{id}")),
    Page("GET", "/settings/users", users.list_, like("GET", "/v1/users")),
    Page("GET", "/settings/users/new", users.new, like("POST", "/v1/users")),
    Page("POST", "/settings/users", users.invite, like("POST", "/v1/users")),
    Page("GET", "/settings/users/{id}", users.edit, like("PUT", "/v1/users/{id}")),
    Page("POST", "/settings/users/{id}", users.update, like("PUT", "/v1/users/{id}")),
    Page(
        "POST",
        "/settings/users/{id}/invite",
        users.invite_again,
        like("POST", "/v1/users/{id}/invite"),
    ),
    Page("POST", "/settings/users/{id}/reset", users.reset, like("POST", "/v1/users/{id}/invite")),
    Page("POST", "/settings/users/{id}/delete", users.delete, like("DELETE", "/v1/users/{id}")),
    Page("GET", "/settings/team", team.show, like("GET", "/v1/team")),
    Page("POST", "/settings/team", team.rename, like("PUT", "/v1/team")),
    Page("GET", "/settings/probes", settings_probes.list_, like("GET", "/v1/probes")),
    Page("GET", "/settings/probes/tokens/new", settings_probes.new_token, like("POST", "/v1/probe-tokens")),
    Page("POST", "/settings/probes/tokens", settings_probes.create_token, like("POST", "/v1/probe-tokens")),
    Page(
        "POST",
        "/settings/probes/tokens/{id}/delete",
        settings_probes.delete_token,
        like("DELETE", "/v1/probe-tokens/{id}"),
    ),
    Page("POST", "/settings/probes/{id}/rename", settings_probes.rename, like("PUT", "/v1/probes/{id}")),
    Page("POST", "/settings/probes/{id}/drain", settings_probes.drain, like("POST", "/v1/probes/{id}/drain")),
    Page(
        "POST",
        "/settings/probes/{id}/undrain",
        settings_probes.undrain,
        like("DELETE", "/v1/probes/{id}/drain"),
    ),
    Page(
        "POST", "/settings/probes/{id}/revoke", settings_probes.revoke, like("POST", "/v1/probes/{id}/revoke")
    ),
    Page("GET", "/settings/audit-log", team.log, like("GET", "/v1/audit-log")),
    Page("GET", "/settings/about", team.show_about, Permission.ADMIN),
)

# Those are shown whose page there is, and that the visitor may see.
SECTIONS: Final = (
    Link(label="Overview", path="/", icon="home", key="o"),
    Link(label="Monitors", path="/monitors", icon="pulse", key="m"),
    Link(label="Incidents", path="/incidents", icon="flame", key="i"),
    Link(label="Alerting", path="/alerting/rules", icon="bell", key="a", root="/alerting"),
    Link(label="Status pages", path="/status-pages", icon="page", key="p"),
    Link(label="Settings", path="/settings/account", icon="gear", key="s", root="/settings"),
)
BESIDE: Final = {
    "/alerting": (
        Link(label="Rules", path="/alerting/rules"),
        Link(label="Channels", path="/alerting/channels"),
        Link(label="Alerts", path="/alerting/alerts"),
        Link(label="Maintenance", path="/alerting/maintenance"),
    ),
    "/settings": (
        Link(label="Account", path="/settings/account"),
        Link(label="API tokens", path="/settings/tokens"),
        Link(label="Users", path="/settings/users"),
        Link(label="Team", path="/settings/team"),
        Link(label="Probes", path="/settings/probes"),
        Link(label="Audit log", path="/settings/audit-log"),
        Link(label="About", path="/settings/about"),
    ),
}


def register(app: web.Application) -> None:
    """Put the console into *app*, beside the API's routes."""
    edge.register(app, Site(PAGES, SECTIONS, BESIDE), PAGES)
