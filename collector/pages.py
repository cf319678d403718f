"""Every page of the console, on one screen: path, view, permission."""

from typing import Final

from aiohttp import web

from collector.accounts.console import account, door, links, openid, passkeys, team, tokens, two_factor, users
from collector.alerts.console import alerts, rules
from collector.alerts.console.monitor_rules import MonitorRules
from collector.console import common, edge, installable
from collector.console.render import NavigationLink
from collector.console.site import ConsolePage, ConsoleSite
from collector.incidents.console import incidents, postmortems, statistics
from collector.maintenance import console as maintenance
from collector.manual import console as manual
from collector.monitors.console import checks, forms, live, monitor, monitors, reports, saved_filters
from collector.monitors.console.notified import NOTIFIED
from collector.notifications import console as channels
from collector.overview.console import overview, state, wall
from collector.platform.access import Permission
from collector.probes import console as settings_probes
from collector.reports.console import rows as report_rows
from collector.routes import ROUTES
from collector.search import console as search
from collector.status_pages.console import rows as status_page_rows

_LIKE: Final = {(method, path): needs for method, path, _, needs in ROUTES}


def like(method: str, path: str) -> Permission:
    """The permission that the API requires for the same action."""
    needs = _LIKE[method, path]
    if needs is None:
        raise ValueError(f"{method} {path} asks for no token")
    return needs


ANYBODY, READ = None, Permission.READ_ONLY

PAGES: Final[tuple[ConsolePage, ...]] = (
    ConsolePage("GET", "/assets/{version}/{name}", common.asset, ANYBODY),
    ConsolePage("GET", "/manifest.webmanifest", installable.manifest, ANYBODY),
    ConsolePage("GET", "/worker.js", installable.worker, ANYBODY),
    ConsolePage("GET", "/offline", installable.offline, ANYBODY),
    ConsolePage("GET", "/sign-in", door.show, ANYBODY),
    ConsolePage("POST", "/sign-in", door.enter, ANYBODY),
    ConsolePage("POST", "/sign-in/code", door.second_step, ANYBODY),
    ConsolePage("POST", "/sign-in/passkey", passkeys.sign_in, ANYBODY),
    ConsolePage("POST", "/sign-in/passkey/challenge", passkeys.ask_at_sign_in, ANYBODY),
    ConsolePage("GET", "/sign-in/oidc", openid.go, ANYBODY),
    ConsolePage("GET", "/sign-in/oidc/callback", openid.back, ANYBODY),
    ConsolePage("POST", "/sign-out", door.leave, READ, before_second_factor=True),
    ConsolePage("POST", "/sign-out-everywhere", door.leave_everywhere, READ, before_second_factor=True),
    ConsolePage("POST", "/sign-out-and-in", passkeys.sign_in_again, READ, before_second_factor=True),
    ConsolePage("GET", "/confirm/{secret}", links.asked, ANYBODY),
    ConsolePage("POST", "/confirm/{secret}", links.confirm, ANYBODY),
    ConsolePage("GET", "/invitations/{secret}", links.invited, ANYBODY),
    ConsolePage("POST", "/invitations/{secret}", links.join, ANYBODY),
    ConsolePage("GET", "/reset/{secret}", links.reset, ANYBODY),
    ConsolePage("POST", "/reset/{secret}", links.set_password, ANYBODY),
    ConsolePage("GET", "/setup/{secret}", links.set_up, ANYBODY),
    ConsolePage("POST", "/setup/{secret}", links.take_over, ANYBODY),
    ConsolePage("GET", "/forgot", links.forgot, ANYBODY),
    ConsolePage("POST", "/forgot", links.ask, ANYBODY),
    ConsolePage("GET", "/docs", manual.show, ANYBODY),
    ConsolePage("GET", "/docs/search", manual.find, ANYBODY),
    ConsolePage("GET", "/docs/llms.txt", manual.overview_for_models, ANYBODY),
    ConsolePage("GET", "/docs/llms-full.txt", manual.all_for_models, ANYBODY),
    ConsolePage("GET", "/docs/{page}", manual.show, ANYBODY),
    ConsolePage("GET", "/docs/{folder}/{page}", manual.show, ANYBODY),
    ConsolePage("GET", "/events", common.stream, like("GET", "/v1/events")),
    ConsolePage("GET", "/state", state.show, like("GET", "/v1/incidents")),
    ConsolePage("GET", "/", overview.show, like("GET", "/v1/monitors")),
    ConsolePage("GET", "/search", search.show, like("GET", "/v1/monitors")),
    ConsolePage("GET", "/wall", wall.own, like("GET", "/v1/monitors")),
    ConsolePage("GET", "/wall/{secret}", wall.linked, ANYBODY),
    ConsolePage("GET", "/monitors", monitors.list_, like("GET", "/v1/monitors")),
    ConsolePage("POST", "/monitors", forms.create, like("POST", "/v1/monitors")),
    ConsolePage("GET", "/monitors/new", forms.new, like("POST", "/v1/monitors")),
    ConsolePage("POST", "/monitors/filters", saved_filters.save, READ),
    ConsolePage("POST", "/monitors/filters/delete", saved_filters.delete, READ),
    ConsolePage("POST", "/monitors/test", forms.test, like("POST", "/v1/monitors/test")),
    ConsolePage("POST", "/monitors/bulk", monitors.carry_out, like("POST", "/v1/monitors/bulk")),
    ConsolePage("POST", "/monitors/bulk/undo", monitors.undo, like("POST", "/v1/monitors/bulk")),
    ConsolePage("GET", "/monitors/live", live.stream, like("GET", "/v1/monitors")),
    ConsolePage("GET", "/monitors/{id}", monitor.show, like("GET", "/v1/monitors/{id}")),
    ConsolePage("GET", "/monitors/{id}/edit", forms.edit, like("PUT", "/v1/monitors/{id}")),
    ConsolePage("POST", "/monitors/{id}/edit", forms.update, like("PUT", "/v1/monitors/{id}")),
    ConsolePage("POST", "/monitors/{id}/pause", monitor.pause, like("POST", "/v1/monitors/{id}/pause")),
    ConsolePage("POST", "/monitors/{id}/resume", monitor.resume, like("POST", "/v1/monitors/{id}/resume")),
    ConsolePage("POST", "/monitors/{id}/silence", monitor.silence, like("POST", "/v1/monitors/{id}/silence")),
    ConsolePage(
        "POST", "/monitors/{id}/unsilence", monitor.unsilence, like("DELETE", "/v1/monitors/{id}/silence")
    ),
    ConsolePage(
        "POST",
        "/monitors/{id}/rotate-key",
        reports.rotate,
        like("POST", "/v1/monitors/{id}/rotate-key"),
    ),
    ConsolePage("POST", "/monitors/{id}/check", monitor.check_now, like("POST", "/v1/monitors/test")),
    ConsolePage("GET", "/monitors/{id}/results.csv", checks.export, like("GET", "/v1/monitors/{id}/results")),
    ConsolePage("POST", "/monitors/{id}/delete", monitor.delete, like("DELETE", "/v1/monitors/{id}")),
    ConsolePage("GET", "/incidents", incidents.list_, like("GET", "/v1/incidents")),
    ConsolePage("POST", "/incidents", incidents.create, like("POST", "/v1/incidents")),
    ConsolePage("GET", "/incidents/new", incidents.new, like("POST", "/v1/incidents")),
    ConsolePage("GET", "/incidents/stats", statistics.show, like("GET", "/v1/incidents/stats")),
    ConsolePage("GET", "/incidents/{id}", incidents.show, like("GET", "/v1/incidents/{id}")),
    ConsolePage(
        "GET",
        "/incidents/{id}/postmortem",
        postmortems.export,
        like("GET", "/v1/incidents/{id}/postmortem"),
    ),
    ConsolePage(
        "GET",
        "/incidents/{id}/postmortem/edit",
        postmortems.show,
        like("GET", "/v1/incidents/{id}/postmortem"),
    ),
    ConsolePage(
        "POST",
        "/incidents/{id}/postmortem/edit",
        postmortems.save,
        like("PUT", "/v1/incidents/{id}"),
    ),
    ConsolePage(
        "POST",
        "/incidents/{id}/postmortem/discard",
        postmortems.discard,
        like("PUT", "/v1/incidents/{id}"),
    ),
    ConsolePage(
        "POST",
        "/incidents/{id}/acknowledge",
        incidents.acknowledge,
        like("POST", "/v1/incidents/{id}/acknowledge"),
    ),
    ConsolePage(
        "POST",
        "/incidents/{id}/unacknowledge",
        incidents.unacknowledge,
        like("DELETE", "/v1/incidents/{id}/acknowledge"),
    ),
    ConsolePage(
        "POST", "/incidents/{id}/snooze", incidents.snooze, like("POST", "/v1/incidents/{id}/snooze")
    ),
    ConsolePage(
        "POST",
        "/incidents/{id}/end-snooze",
        incidents.end_snooze,
        like("DELETE", "/v1/incidents/{id}/snooze"),
    ),
    ConsolePage(
        "POST", "/incidents/{id}/resolve", incidents.resolve, like("POST", "/v1/incidents/{id}/resolve")
    ),
    ConsolePage(
        "POST", "/incidents/{id}/reopen", incidents.reopen, like("POST", "/v1/incidents/{id}/reopen")
    ),
    ConsolePage(
        "POST", "/incidents/{id}/severity", incidents.set_severity, like("PUT", "/v1/incidents/{id}")
    ),
    ConsolePage("POST", "/incidents/{id}/notes", incidents.note, like("POST", "/v1/incidents/{id}/notes")),
    ConsolePage("GET", "/alerting", common.section, READ),
    ConsolePage("GET", "/alerting/rules", rules.list_, like("GET", "/v1/alert-rules")),
    ConsolePage("POST", "/alerting/rules", rules.create, like("POST", "/v1/alert-rules")),
    ConsolePage("GET", "/alerting/rules/new", rules.new, like("POST", "/v1/alert-rules")),
    ConsolePage("POST", "/alerting/rules/preview", rules.preview, like("POST", "/v1/alert-rules/preview")),
    ConsolePage("GET", "/alerting/rules/{id}/edit", rules.edit, like("PUT", "/v1/alert-rules/{id}")),
    ConsolePage("POST", "/alerting/rules/{id}/edit", rules.update, like("PUT", "/v1/alert-rules/{id}")),
    ConsolePage("POST", "/alerting/rules/{id}/delete", rules.delete, like("DELETE", "/v1/alert-rules/{id}")),
    ConsolePage("GET", "/alerting/channels", channels.list_, like("GET", "/v1/alert-channels")),
    ConsolePage("POST", "/alerting/channels", channels.create, like("POST", "/v1/alert-channels")),
    ConsolePage("GET", "/alerting/channels/new", channels.new, like("POST", "/v1/alert-channels")),
    ConsolePage(
        "GET", "/alerting/channels/{id}", channels.show, like("GET", "/v1/alert-channels/{id}/deliveries")
    ),
    ConsolePage("GET", "/alerting/channels/{id}/edit", channels.edit, like("PUT", "/v1/alert-channels/{id}")),
    ConsolePage(
        "POST", "/alerting/channels/{id}/edit", channels.update, like("PUT", "/v1/alert-channels/{id}")
    ),
    ConsolePage(
        "POST", "/alerting/channels/{id}/test", channels.test, like("POST", "/v1/alert-channels/{id}/test")
    ),
    ConsolePage(
        "POST", "/alerting/channels/{id}/delete", channels.delete, like("DELETE", "/v1/alert-channels/{id}")
    ),
    ConsolePage(
        "POST",
        "/alerting/channels/{channel}/deliveries/{id}/again",
        channels.again,
        like("POST", "/v1/deliveries/{id}/redeliver"),
    ),
    ConsolePage("GET", "/alerting/alerts", alerts.list_, like("GET", "/v1/alerts")),
    ConsolePage(
        "POST",
        "/alerting/alerts/{id}/acknowledge",
        alerts.acknowledge,
        like("POST", "/v1/alerts/{id}/acknowledge"),
    ),
    ConsolePage(
        "POST", "/alerting/alerts/{id}/resolve", alerts.resolve, like("POST", "/v1/alerts/{id}/resolve")
    ),
    ConsolePage("GET", "/alerting/maintenance", maintenance.list_, like("GET", "/v1/maintenance-windows")),
    ConsolePage("POST", "/alerting/maintenance", maintenance.create, like("POST", "/v1/maintenance-windows")),
    ConsolePage("GET", "/alerting/maintenance/new", maintenance.new, like("POST", "/v1/maintenance-windows")),
    ConsolePage(
        "GET",
        "/alerting/maintenance/{id}/edit",
        maintenance.edit,
        like("PUT", "/v1/maintenance-windows/{id}"),
    ),
    ConsolePage(
        "POST",
        "/alerting/maintenance/{id}/edit",
        maintenance.update,
        like("PUT", "/v1/maintenance-windows/{id}"),
    ),
    ConsolePage(
        "POST",
        "/alerting/maintenance/{id}/end",
        maintenance.end,
        like("POST", "/v1/maintenance-windows/{id}/end"),
    ),
    ConsolePage(
        "POST",
        "/alerting/maintenance/{id}/delete",
        maintenance.delete,
        like("DELETE", "/v1/maintenance-windows/{id}"),
    ),
    *(
        ConsolePage(method, path, view, like(does, f"/v1{at}"))
        for method, path, view, does, at in (*status_page_rows.ROWS, *report_rows.ROWS)
    ),
    ConsolePage("GET", "/settings", common.section, READ),
    ConsolePage("GET", "/settings/account", account.show, READ),
    ConsolePage("POST", "/settings/account/password", account.set_password, READ),
    ConsolePage("POST", "/settings/account/display", account.set_display, READ),
    ConsolePage("POST", "/settings/account/sessions/{id}/end", account.end, READ),
    ConsolePage("GET", "/settings/account/two-factor", two_factor.show, READ, before_second_factor=True),
    ConsolePage("POST", "/settings/account/two-factor", two_factor.begin, READ, before_second_factor=True),
    ConsolePage(
        "POST", "/settings/account/two-factor/confirm", two_factor.confirm, READ, before_second_factor=True
    ),
    ConsolePage("POST", "/settings/account/two-factor/codes", two_factor.renew_codes, READ),
    ConsolePage("POST", "/settings/account/two-factor/off", two_factor.turn_off, READ),
    ConsolePage(
        "POST",
        "/settings/account/passkeys/challenge",
        passkeys.ask_for_new,
        READ,
        before_second_factor=True,
    ),
    ConsolePage("POST", "/settings/account/passkeys", passkeys.add, READ, before_second_factor=True),
    ConsolePage("POST", "/settings/account/passkeys/{id}/delete", passkeys.remove, READ),
    ConsolePage("GET", "/settings/tokens", tokens.list_, like("GET", "/v1/tokens")),
    ConsolePage("GET", "/settings/tokens/new", tokens.new, like("POST", "/v1/tokens")),
    ConsolePage("POST", "/settings/tokens", tokens.create, like("POST", "/v1/tokens")),
    ConsolePage("POST", "/settings/tokens/{id}/revoke", tokens.revoke, like("DELETE", "/v1/tokens/{id}")),
    ConsolePage("GET", "/settings/users", users.list_, like("GET", "/v1/users")),
    ConsolePage("GET", "/settings/users/new", users.new, like("POST", "/v1/users")),
    ConsolePage("POST", "/settings/users", users.invite, like("POST", "/v1/users")),
    ConsolePage("GET", "/settings/users/{id}", users.edit, like("PUT", "/v1/users/{id}")),
    ConsolePage("POST", "/settings/users/{id}", users.update, like("PUT", "/v1/users/{id}")),
    ConsolePage(
        "POST",
        "/settings/users/{id}/invite",
        users.invite_again,
        like("POST", "/v1/users/{id}/invite"),
    ),
    ConsolePage("POST", "/settings/users/{id}/reset", users.reset, like("POST", "/v1/users/{id}/invite")),
    ConsolePage(
        "POST",
        "/settings/users/{id}/two-factor/off",
        users.turn_two_factor_off,
        like("POST", "/v1/users/{id}/invite"),
    ),
    ConsolePage("POST", "/settings/users/{id}/delete", users.delete, like("DELETE", "/v1/users/{id}")),
    ConsolePage("GET", "/settings/team", team.show, like("GET", "/v1/team")),
    ConsolePage("POST", "/settings/team", team.save, like("PUT", "/v1/team")),
    ConsolePage("GET", "/settings/probes", settings_probes.list_, like("GET", "/v1/probes")),
    ConsolePage(
        "GET", "/settings/probes/tokens/new", settings_probes.new_token, like("POST", "/v1/probe-tokens")
    ),
    ConsolePage(
        "POST", "/settings/probes/tokens", settings_probes.create_token, like("POST", "/v1/probe-tokens")
    ),
    ConsolePage(
        "POST",
        "/settings/probes/tokens/{id}/delete",
        settings_probes.delete_token,
        like("DELETE", "/v1/probe-tokens/{id}"),
    ),
    ConsolePage(
        "POST", "/settings/probes/{id}/rename", settings_probes.rename, like("PUT", "/v1/probes/{id}")
    ),
    ConsolePage(
        "POST", "/settings/probes/{id}/drain", settings_probes.drain, like("POST", "/v1/probes/{id}/drain")
    ),
    ConsolePage(
        "POST",
        "/settings/probes/{id}/undrain",
        settings_probes.undrain,
        like("DELETE", "/v1/probes/{id}/drain"),
    ),
    ConsolePage(
        "POST", "/settings/probes/{id}/revoke", settings_probes.revoke, like("POST", "/v1/probes/{id}/revoke")
    ),
    ConsolePage("GET", "/settings/walls", wall.links, READ),
    ConsolePage("POST", "/settings/walls", wall.create, Permission.READ_WRITE),
    ConsolePage("POST", "/settings/walls/{id}/end", wall.end, Permission.READ_WRITE),
    ConsolePage("GET", "/settings/audit-log", team.log, like("GET", "/v1/audit-log")),
    ConsolePage("GET", "/settings/about", team.show_about, Permission.ADMIN),
)

# A section is shown if its page exists and the visitor may see it.
SECTIONS: Final = (
    NavigationLink(label="Overview", path="/", icon="home", key="o"),
    NavigationLink(label="Monitors", path="/monitors", icon="pulse", key="m"),
    NavigationLink(label="Incidents", path="/incidents", icon="flame", key="i"),
    NavigationLink(label="Alerting", path="/alerting/rules", icon="bell", key="a", root="/alerting"),
    NavigationLink(label="Status pages", path="/status-pages", icon="page", key="p"),
    NavigationLink(label="Reports", path="/reports", icon="chart", key="r"),
    NavigationLink(label="Settings", path="/settings/account", icon="gear", key="s", root="/settings"),
)
BESIDE: Final = {
    "/alerting": (
        NavigationLink(label="Rules", path="/alerting/rules"),
        NavigationLink(label="Channels", path="/alerting/channels"),
        NavigationLink(label="Alerts", path="/alerting/alerts"),
        NavigationLink(label="Maintenance", path="/alerting/maintenance"),
    ),
    "/settings": (
        NavigationLink(label="Account", path="/settings/account"),
        NavigationLink(label="API tokens", path="/settings/tokens"),
        NavigationLink(label="Users", path="/settings/users"),
        NavigationLink(label="Team", path="/settings/team"),
        NavigationLink(label="Probes", path="/settings/probes"),
        NavigationLink(label="Wall screens", path="/settings/walls"),
        NavigationLink(label="Audit log", path="/settings/audit-log"),
        NavigationLink(label="About", path="/settings/about"),
    ),
}


def register(app: web.Application) -> None:
    """Add the console's routes to *app*, beside the API's."""
    app[NOTIFIED] = MonitorRules()
    edge.register(app, ConsoleSite(PAGES, SECTIONS, BESIDE), PAGES)
