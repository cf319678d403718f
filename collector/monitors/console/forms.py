"""Creating and editing a monitor: a form of its type's fields, with a trial run before saving."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from aiohttp import hdrs, web

from collector.console import common
from collector.console.answers import back, page, posted, value
from collector.console.forms import forms, read
from collector.console.forms.fields import Form, FormField
from collector.console.forms.read import Posted
from collector.console.language import gettext, marked
from collector.console.state import visitor
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.monitors.answers import TestedMonitor
from collector.monitors.api import views
from collector.monitors.console import kind_cards, monitors, pickers
from collector.monitors.console import types as monitor_types
from collector.monitors.console.notified import NOTIFIED
from collector.monitors.service import creation, reads, runs
from collector.monitors.service import fields as monitor_fields
from collector.monitors.service import monitors as service
from collector.monitors.service.columns import settings_of
from collector.monitors.service.reads import WHAT, CompleteMonitor
from collector.monitors.storage.monitors import Monitor
from collector.platform.masks import kept, masked
from collector.platform.monitor import MonitorSettings, merge
from collector.platform.validation.model_fields import defaults
from collector.platform.validation.validation import to_json
from collector.probes.storage import probes
from shared import ids
from shared.errors import Conflict, Invalid, PreconditionFailed, Unavailable
from shared.kinds import KINDS, RECEIVING

_FIRST: Final = ("interval", "locations")
# The rest of the settings, folded, by subject.
_FOLDED: Final[Mapping[str, tuple[str, ...]]] = {
    "When it counts as down": ("failureThreshold", "recoveryThreshold", "quorum", "timeout"),
    "Incidents and dependencies": ("severity", "dependsOn", "runbookUrl"),
    "Group, tags, description": ("group", "tags", "description"),
}
_NEW_TYPE: Final = "http"
# A new monitor is named after the first of these that its type has.
_TARGETS: Final = frozenset({"config.url", "config.domain", "config.host"})
_LONGEST_NAME: Final = 255
_NOTIFY: Final = "notify"


async def new(request: web.Request) -> web.StreamResponse:
    """Show the form of the requested type, or of a copy of the monitor that ``from`` names."""
    source = await _named(request, request.query.get("from", ""))
    if source is not None:
        return await _copy(request, source)
    asked = request.query.get("type", _NEW_TYPE)
    type_ = asked if asked in KINDS else _NEW_TYPE
    return await _drawn(request, type_, {}, {}, {})


async def _copy(request: web.Request, source: Monitor) -> web.Response:
    found = await _whole(request, source, secrets=False)
    kind = monitor_types.kind_of(source.type, found.config)
    settings = {
        **to_json(settings_of(source)),
        "name": gettext("Copy of %(name)s", name=source.name)[:_LONGEST_NAME],
    }
    return await _drawn(
        request, kind, settings, monitor_types.drawn(found.config), {}, clone=ids.show("mon", source.id)
    )


async def create(request: web.Request) -> web.StreamResponse:
    form = await posted(request)
    type_ = _type(form)
    settings, config = _sent(type_, form)
    if pickers.asked(form):
        return await _drawn(request, type_, settings, config, {}, clone=value(form, "clone"))
    source = await _named(request, value(form, "clone"))
    own = _said(config) if source is None else await _with_secrets(request, source, type_, config)
    body = {
        **_said({"name": monitor_types.usual_name(config)}),
        **_said(settings),
        "type": type_,
        "config": own,
    }
    try:
        saved = await creation.create(
            common.service_context(request), visitor(request).team_id, body, context_of(request).now()
        )
    except Invalid as fault:
        return await _drawn(
            request, type_, settings, config, fault.details, status=400, clone=value(form, "clone")
        )
    text = " ".join([gettext("Monitor “%(name)s” created.", name=saved.monitor.name), *saved.warnings])
    return await _saved(request, saved.monitor.id, text)


async def edit(request: web.Request) -> web.StreamResponse:
    monitor, config = await _known(request)
    kind = monitor_types.kind_of(monitor.type, config)
    return await _drawn(
        request, kind, to_json(settings_of(monitor)), monitor_types.drawn(config), {}, monitor
    )


async def update(request: web.Request) -> web.StreamResponse:
    """Save a monitor; secrets that are still masked keep their values."""
    monitor, shown = await _known(request)
    form, kind = await posted(request), monitor_types.kind_of(monitor.type, shown)
    settings, config = _sent(kind, form)
    if pickers.asked(form):
        return await _drawn(request, kind, settings, config, {}, monitor)
    usual = defaults(MonitorSettings)
    whole = {name: usual.get(name) if one is None else one for name, one in settings.items()}
    only = frozenset({value(form, "revision")}) if value(form, "revision") else None
    try:
        saved = await service.update(
            common.service_context(request),
            visitor(request).team_id,
            monitor.id,
            {**whole, "config": monitor_types.changes(shown, config)},
            context_of(request).now(),
            only=only,
        )
    except Invalid as fault:
        return await _drawn(request, kind, settings, config, fault.details, monitor, status=400)
    except PreconditionFailed:
        faults = {
            "revision": marked(
                "someone else changed this monitor meanwhile: reload it and review the changes"
            )
        }
        return await _drawn(request, kind, settings, config, faults, monitor, status=412)
    return await _saved(request, monitor.id, " ".join([gettext("Saved."), *saved.warnings]))


async def test(request: web.Request) -> web.StreamResponse:
    """Check the form's settings once, and show the form again with the outcome."""
    form = await posted(request)
    type_, context, team_id = _type(form), context_of(request), visitor(request).team_id
    monitor, clone = await _named(request, value(form, "monitor")), value(form, "clone")
    settings, config = _sent(type_, form)
    source = monitor or await _named(request, clone)
    whole = _said(config) if source is None else await _with_secrets(request, source, type_, config)
    try:
        body = {**_said(settings), "type": type_, "config": whole}
        monitor_request = monitor_fields.for_test(body, context.nodes)
        tested = await runs.try_out(
            context.db, context.signals, context.keyring, team_id, monitor_request, context.now()
        )
    except Invalid as fault:
        return await _drawn(request, type_, settings, config, fault.details, monitor, status=400, clone=clone)
    except Unavailable as fault:
        faults = {"test": str(fault)}
        return await _drawn(request, type_, settings, config, faults, monitor, status=503, clone=clone)
    return await _drawn(
        request, type_, settings, config, {}, monitor, tested=views.tested(tested, []), clone=clone
    )


async def _whole(request: web.Request, monitor: Monitor, *, secrets: bool) -> CompleteMonitor:
    context = context_of(request)
    return await reads.one(
        context.db, context.keyring, visitor(request).team_id, monitor.id, secrets=secrets, now=context.now()
    )


async def _with_secrets(
    request: web.Request, source: Monitor, type_: str, config: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the form's *config* with the secrets of *source* where it has their masks."""
    found = await _whole(request, source, secrets=True)
    if monitor_types.kind_of(source.type, found.config) != type_:
        return _said(config)
    known = {name: one for name, one in found.config.items() if name not in monitor_types.left_out(type_)}
    shown = masked(KINDS[type_], known)
    return merge(known, kept(monitor_types.changes(shown, config), known))


async def _drawn(
    request: web.Request,
    type_: str,
    settings: Mapping[str, Any],
    config: Mapping[str, Any],
    faults: Mapping[str, str],
    monitor: Monitor | None = None,
    *,
    tested: TestedMonitor | None = None,
    status: int = 200,
    clone: str = "",
) -> web.Response:
    kind = KINDS[type_]
    of_kind = forms.build(
        kind, config, _about(faults, kind), prefix="config.", leave_out=monitor_types.left_out(type_)
    )
    left = {name: text for name, text in faults.items() if name not in _about(faults, kind)}
    of_all = await _settings(request, type_, settings, left, monitor)
    foremost, others = monitor_types.divided(type_, of_kind.fields)
    notify, rules = await _notify(request, monitor)
    return page(
        request,
        "monitor_form.html.j2",
        status=status,
        monitor=monitor,
        id=ids.show("mon", monitor.id) if monitor else "",
        type_=type_,
        card=kind_cards.card(type_),
        cards=kind_cards.groups(),
        receives=type_ in RECEIVING,
        first=[*_named_by_target(of_all, foremost, monitor), *of_all.named(*_FIRST), *notify],
        rules=rules,
        folded=_folded(others, of_all),
        summary=Form((*of_kind.fields, *of_all.fields), {**of_all.faults, **of_kind.faults}),
        tested=tested,
        clone=clone,
    )


async def _settings(
    request: web.Request,
    type_: str,
    settings: Mapping[str, Any],
    faults: Mapping[str, str],
    monitor: Monitor | None,
) -> Form:
    """Build the form of the settings of all types; locations and monitors are picked."""
    context = context_of(request)
    own = ids.show("mon", monitor.id) if monitor else ""
    choice = await pickers.monitors(request, settings.get("dependsOn") or ())
    async with context.db.connection() as tx:
        served = await probes.served(tx, visitor(request).team_id, context.now())
    places = sorted({*served, *(settings.get("locations") or ())})
    options = {
        "dependsOn": [option for option in choice.options if option[0] != own],
        "locations": [(place, place) for place in places],
    }
    built = forms.build(
        MonitorSettings,
        settings,
        faults,
        options=options,
        leave_out=monitor_types.settings_left_out(type_),
    )
    return choice.put(built, "dependsOn")


async def _notify(request: web.Request, monitor: Monitor | None) -> tuple[list[FormField], Sequence[str]]:
    """Return the field of the notified channels, if there are any, and what other rules notify."""
    known = await request.app[NOTIFIED].read(request, monitor.id if monitor else None)
    if not known.options:
        return [], known.rules
    sent = (await posted(request)).get(_NOTIFY) if request.method == hdrs.METH_POST else None
    field = FormField(
        name=_NOTIFY,
        label="Notify",
        control="checks",
        help="Channels that are notified when it goes down and when it recovers.",
        options=tuple(known.options),
        checked=known.chosen if sent is None else frozenset(filter(None, sent)),
    )
    return [field], known.rules


async def _saved(request: web.Request, monitor_id: UUID, text: str) -> web.Response:
    """Save the channels that the form chose, and return to the monitor's page."""
    wanted = (await posted(request)).get(_NOTIFY)
    here = monitors.path(monitor_id)
    if wanted is None:
        return back(request, here, text)
    try:
        await request.app[NOTIFIED].save(request, monitor_id, [each for each in wanted if each])
    except (Invalid, Conflict) as fault:
        return back(
            request,
            here,
            f"{text} {gettext('Its channels were not saved: %(fault)s.', fault=fault)}",
            tone="warn",
        )
    return back(request, here, text)


def _folded(others: list[FormField], of_all: Form) -> list[tuple[str, list[FormField]]]:
    """Return the fields that are folded, by subject; a setting of no subject is with the last."""
    *subjects, last = _FOLDED
    elsewhere = {"name", *_FIRST, *(name for subject in subjects for name in _FOLDED[subject])}
    described = of_all.named(*_FOLDED[last])
    folds = [
        (marked("Request and answer"), others),
        *((subject, of_all.named(*_FOLDED[subject])) for subject in subjects),
        (last, [*described, *of_all.but(*elsewhere, *_FOLDED[last])]),
    ]
    return [(subject, fields) for subject, fields in folds if fields]


def _named_by_target(of_all: Form, foremost: list[FormField], monitor: Monitor | None) -> list[FormField]:
    """Return the name and the target's fields; a new monitor may do without a name if it has a target."""
    [name] = of_all.named("name")
    if monitor is not None or not any(field.name in _TARGETS for field in foremost):
        return [name, *foremost]
    help_ = gettext("Left empty, the monitor is named after its target.")
    return [replace(name, required=False, help=help_), *foremost]


def _about(faults: Mapping[str, str], kind: Any) -> dict[str, str]:
    """Return the faults of the type's own fields."""
    names = {field.name.partition(".")[2] for field in forms.build(kind, prefix="config.").fields}
    return {
        name: text
        for name, text in faults.items()
        if name.removeprefix("config.").partition(".")[0].partition("[")[0] in names
    }


def _sent(type_: str, form: Posted) -> tuple[dict[str, Any], dict[str, Any]]:
    config = read.body(KINDS[type_], form, prefix="config.")
    return read.body(MonitorSettings, form), monitor_types.completed(type_, config)


def _said(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return *fields* without empty ones, so that defaults apply."""
    return {name: one for name, one in fields.items() if one is not None}


def _type(form: Posted) -> str:
    type_ = value(form, "type")
    if type_ not in KINDS:
        raise Invalid({"type": f"must be one of {', '.join(KINDS)}"})
    return type_


async def _known(request: web.Request) -> tuple[Monitor, dict[str, Any]]:
    """Return the monitor of the path, and its configuration with masked secrets. Raises NotFound."""
    context, id_ = context_of(request), path_id(request, "mon", WHAT)
    found = await reads.one(
        context.db, context.keyring, visitor(request).team_id, id_, secrets=False, now=context.now()
    )
    return found.monitor, found.config


async def _named(request: web.Request, text: str) -> Monitor | None:
    id_ = ids.read("mon", text)
    return None if id_ is None else await reads.found(context_of(request).db, visitor(request).team_id, id_)
