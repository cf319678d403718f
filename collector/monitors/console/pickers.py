"""Choosing monitors in a form: a search on the server; chosen ones stay visible."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from aiohttp import hdrs, web

from collector.console.answers import posted, value
from collector.console.forms.fields import Form, FormField, OptionSearch
from collector.console.forms.read import Posted
from collector.console.language import gettext, ngettext
from collector.console.state import visitor
from collector.http.context import context_of
from collector.monitors.service import reads
from collector.monitors.storage.lists import MonitorFilter
from shared import ids

Options = list[tuple[str, str]]

_SHOWN: Final = 50
_LONGEST: Final = 200
_BY_TAG: Final = "tag:"


@dataclass(frozen=True, slots=True)
class Choice:
    """*options*: first the chosen ones, then those found; *finder* None: there are no others."""

    options: Options
    finder: OptionSearch | None

    def put(self, form: Form, name: str) -> Form:
        """Add the search to the field *name* of *form*."""
        fields = tuple(
            replace(field, finder=self.finder) if field.name == name else field for field in form.fields
        )
        return Form(fields, form.faults)

    def into(self, fields: Iterable[FormField], name: str) -> list[FormField]:
        """Add the search to the field *name* of *fields*."""
        return [replace(field, finder=self.finder) if field.name == name else field for field in fields]


def asked(form: Posted) -> bool:
    """Whether the form was sent to search rather than to save."""
    return value(form, "pick") == "find"


async def monitors(request: web.Request, chosen: Iterable[str]) -> Choice:
    """Return the monitors that the sent form searches for, else the newest; *chosen* ones always."""
    text = await _searched(request)
    team_id, db = visitor(request).team_id, context_of(request).db
    found, total = await reads.page(db, team_id, _wanted(text), _SHOWN, 0)
    mine = list(dict.fromkeys(one for one in chosen if isinstance(one, str)))
    named = {one: id_ for one in mine if (id_ := ids.read("mon", one)) is not None}
    names = await reads.names(db, team_id, list(named.values())) if named else {}
    first = {one: names.get(named[one], one) if one in named else one for one in mine}
    options = [*(first | {ids.show("mon", monitor.id): monitor.name for monitor in found}).items()]
    if not text and total <= _SHOWN:
        return Choice(options, None)
    words = _said(text, len(found), total)
    if mine:
        words += " " + gettext("%(count)s selected, at the top.", count=len(mine))
    return Choice(options, OptionSearch(text, words))


async def _searched(request: web.Request) -> str:
    if request.method != hdrs.METH_POST:
        return ""
    return value(await posted(request), "find").replace("\0", "").strip()[:_LONGEST]


def _wanted(text: str) -> MonitorFilter:
    tag = text.removeprefix(_BY_TAG).strip() if text.startswith(_BY_TAG) else ""
    return MonitorFilter(tag=tag) if tag else MonitorFilter(text=text or None)


def _said(text: str, shown: int, total: int) -> str:
    if total > shown:
        if text:
            return gettext(
                "The newest %(shown)s of %(total)s matching monitors: search for others.",
                shown=shown,
                total=total,
            )
        return gettext(
            "The newest %(shown)s of %(total)s monitors: search for others.", shown=shown, total=total
        )
    if not total:
        return gettext("No monitor matches.")
    return ngettext("%(num)s monitor matches.", "%(num)s monitors match.", total)
