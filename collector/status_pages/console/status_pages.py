"""Status pages: the list, one with its current status, and its settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from aiohttp import web

from collector.console import common
from collector.console.answers import back, page, posted
from collector.console.forms import edits, forms, read
from collector.console.forms.fields import FormField
from collector.console.language import gettext, translate
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.platform.validation.model_fields import defaults
from collector.platform.validation.validation import to_json
from collector.status_pages.api.status_pages import PROVER, own
from collector.status_pages.core.domains import asked_of
from collector.status_pages.core.fields import Branding, PageSettings
from collector.status_pages.core.status_page import of_page
from collector.status_pages.service import incidents, status_pages
from collector.status_pages.service.components import ComponentDetails
from collector.status_pages.service.fields import WHAT
from collector.status_pages.service.status_pages import StatusPageDetails
from collector.status_pages.storage.incidents import PageIncidentFilter
from collector.status_pages.storage.status_pages import StatusPage
from collector.status_pages.web.badges import BadgeStyle
from shared import ids
from shared.errors import Conflict, Invalid, PreconditionFailed

HERE: Final = "/status-pages"
_PICTURES: Final = frozenset({"branding.logo", "branding.logoDark", "branding.favicon"})
_OPEN: Final = PageIncidentFilter(open=True)


@dataclass(frozen=True, slots=True)
class ComponentGroup:
    """A group of components; *first*: the id of its first one, *name* empty: those without a group."""

    name: str
    first: str
    count: int


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text to copy into another page; *label* says what it shows there."""

    label: str
    text: str


async def list_(request: web.Request) -> web.StreamResponse:
    """List the pages, newest first."""
    number = common.asked(request)
    offset = (number - 1) * common.PER_PAGE
    rows, total = await status_pages.page(
        context_of(request).db, visitor(request).team_id, common.PER_PAGE, offset
    )
    return page(request, "status_pages.html.j2", rows=rows, at=common.at(request, number, total))


async def show(request: web.Request) -> web.StreamResponse:
    """Show the page's current state, its open incidents and its components in order."""
    context, team_id, id_ = context_of(request), visitor(request).team_id, page_id(request)
    known = await status_pages.one(context.db, team_id, id_, context.now())
    open_, _ = await incidents.page(context.db, team_id, id_, _OPEN, common.PER_PAGE, 0)
    number = common.asked(request)
    first = (number - 1) * common.PER_PAGE
    return page(
        request,
        "status_page.html.j2",
        known=known,
        proof=asked_of(known.page.domain, id_) if known.page.domain and not known.answers else None,
        here=path(id_),
        shows=of_page([seen.part for seen in known.components]),
        incidents=open_,
        groups=_groups(known.components),
        components=known.components[first : first + common.PER_PAGE],
        first=first,
        after=[ids.show("comp", seen.row.id) for seen in known.components[first + common.PER_PAGE :][:1]],
        at=common.at(request, number, len(known.components)),
        badges=list(BadgeStyle),
        snippets=_snippets(f"{context.public_url}/status/{known.page.slug}"),
    )


def _groups(components: Sequence[ComponentDetails]) -> list[ComponentGroup]:
    """Return the groups in the order of the page; none if there is only one."""
    firsts: dict[str, ComponentGroup] = {}
    for seen in components:
        name = seen.row.group_name or ""
        known = firsts.get(name) or ComponentGroup(name, ids.show("comp", seen.row.id), 0)
        firsts[name] = replace(known, count=known.count + 1)
    return list(firsts.values()) if len(firsts) > 1 else []


def _snippets(url: str) -> list[Snippet]:
    """What other pages need in order to show the status of the page at *url*."""
    badge = f"{url}/badge.svg"
    return [
        Snippet("Square badge in Markdown", f"[![Status]({badge})]({url})"),
        Snippet("Round badge in Markdown", f"[![Status]({badge}?style=round)]({url})"),
        Snippet("Round badge in HTML", f'<a href="{url}"><img src="{badge}?style=round" alt="Status"></a>'),
        Snippet(
            "Uptime of 90 days in HTML", f'<a href="{url}"><img src="{badge}?kind=uptime" alt="Uptime"></a>'
        ),
        Snippet("Widget", f'<iframe src="{url}/widget" title="Status" width="320" height="64"></iframe>'),
    ]


async def new(request: web.Request) -> web.StreamResponse:
    return _drawn(request, {}, {})


async def create(request: web.Request) -> web.StreamResponse:
    context, sent = context_of(request), read.body(PageSettings, await posted(request))
    try:
        known = await status_pages.create(
            context.db, who(request), edits.said(sent), context.now(), own=own(request)
        )
    except Invalid as fault:
        return _drawn(request, sent, fault.details, code=400)
    except Conflict as fault:
        return _drawn(request, sent, {"address": str(fault)}, code=409)
    return _saved(request, known, "Status page created. Add components next.")


async def edit(request: web.Request) -> web.StreamResponse:
    row = await status_pages.existing(context_of(request).db, visitor(request).team_id, page_id(request))
    return _drawn(request, status_pages.settable(row), {}, row)


async def update(request: web.Request) -> web.StreamResponse:
    """Update the page; an empty password field keeps the password."""
    context, form = context_of(request), await posted(request)
    row = await status_pages.existing(context.db, visitor(request).team_id, page_id(request))
    sent = read.body(PageSettings, form)
    try:
        known = await status_pages.update(
            context.db,
            who(request),
            row.id,
            changes(sent),
            context.now(),
            own=own(request),
            only=edits.only(form),
        )
    except Invalid as fault:
        return _drawn(request, sent, fault.details, row, code=400)
    except Conflict as fault:
        return _drawn(request, sent, {"address": str(fault)}, row, code=409)
    except PreconditionFailed:
        return _drawn(request, sent, edits.CHANGED, row, code=412)
    return _saved(request, known, "Saved.")


async def verify_domain(request: web.Request) -> web.StreamResponse:
    """Verify the domain; the page shows the result at the top."""
    context, id_ = context_of(request), page_id(request)
    known = await status_pages.verify(context.db, request.app[PROVER], who(request), id_, context.now())
    if known.answers or known.page.domain is None:
        return back(
            request,
            path(id_),
            gettext("%(address)s shows this page.", address=known.page.domain or gettext("Its address")),
        )
    return back(
        request,
        path(id_),
        gettext("No DNS record or file was found for %(domain)s.", domain=known.page.domain),
        tone="bad",
    )


async def delete(request: web.Request) -> web.StreamResponse:
    await status_pages.delete(context_of(request).db, who(request), page_id(request))
    return back(request, HERE, "Status page deleted.")


def _drawn(
    request: web.Request,
    shown: Mapping[str, Any],
    faults: Mapping[str, str],
    row: StatusPage | None = None,
    *,
    code: int = 200,
) -> web.Response:
    """Render the form; it never repeats an entered password."""
    form = forms.build(PageSettings, {**shown, "password": None}, faults)
    fields = tuple(_adapted(field, row) for field in form.fields)
    return page(
        request,
        "status_page_form.html.j2",
        status=code,
        row=row,
        here=path(row.id) if row else HERE,
        form=replace(form, fields=fields),
    )


def _adapted(field: FormField, row: StatusPage | None) -> FormField:
    """The field as the settings have it: a password is not shown, an uploaded picture is on one line."""
    if field.name == "password":
        return replace(field, control="secret", help=_password_help(row))
    if field.name == "branding":
        return replace(field, fields=tuple(_adapted(below, row) for below in field.fields))
    return replace(field, control="text") if field.name in _PICTURES else field


def _password_help(row: StatusPage | None) -> str:
    if row is not None and row.password is not None:
        return gettext("For a private page. A password is set; leave empty to keep it.")
    return gettext("For a private page: without a password no one can see it.")


def _saved(request: web.Request, known: StatusPageDetails, flash: str) -> web.Response:
    text = " ".join(
        [translate(flash), *(gettext("Mind: %(warning)s.", warning=warning) for warning in known.warnings)]
    )
    return back(request, path(known.page.id), text, tone="warn" if known.warnings else "good")


def changes(sent: Mapping[str, Any]) -> dict[str, Any]:
    """The settings form as the API expects it, with complete branding."""
    body = filled(PageSettings, sent)
    if body.get("password") is None:
        body.pop("password", None)
    return {**body, "branding": {**to_json(Branding()), **filled(Branding, sent.get("branding") or {})}}


def filled(cls: Any, sent: Mapping[str, Any]) -> dict[str, Any]:
    """The values submitted for *cls*, with defaults for empty fields."""
    usual = defaults(cls)
    return {name: usual.get(name) if one is None else one for name, one in sent.items()}


def page_id(request: web.Request) -> UUID:
    """The page id in the path. Raises NotFound."""
    return path_id(request, "sp", WHAT)


def path(id_: UUID) -> str:
    """The console path of a status page."""
    return f"{HERE}/{ids.show('sp', id_)}"
