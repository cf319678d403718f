"""Status pages and their components in files; page incidents and subscribers are not declarable."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from collector.accounts.service import password_hashes
from collector.declarative.service.shape import (
    ApplyContext,
    Body,
    CreatedItem,
    ExistingResource,
    ParsedItem,
    Sort,
    different,
    faults_of,
    not_declared,
    spare,
)
from collector.platform.answer_json import read_only
from collector.platform.masks import mask
from collector.platform.storage.db import Tx
from collector.platform.validation.validation import read as validated
from collector.platform.validation.validation import to_json
from collector.status_pages.answers import PageAnswer
from collector.status_pages.core.fields import Branding, NewPage
from collector.status_pages.service import components, status_pages
from collector.status_pages.storage import components as parts
from collector.status_pages.storage import status_pages as table
from collector.status_pages.storage.status_pages import StatusPage
from shared import ids

_READ_ONLY: Final = read_only(PageAnswer, NewPage)
_NOT_OF_A_COMPONENT = frozenset({"id", "status", "statusMode", "statusMessage", "order", "updatedAt"})
_OF_A_COMPONENT = ("name", "description", "group", "monitorId", "essential", "showUptime")


async def present(context: ApplyContext, tx: Tx) -> list[ExistingResource]:
    rows = await table.newest(tx, context.team_id, None, 0)
    return [await _present(tx, row) for row in reversed(rows)]


async def read(context: ApplyContext, item: Body, before: ExistingResource | None) -> ParsedItem:
    """Validate an item; a slug that it leaves out keeps its value; components keep the order of the list."""
    found = validated(NewPage, item)
    faults = {
        **_component_faults(item.get("components")),
        **faults_of(item, _READ_ONLY, found),
    }
    if faults or found.value is None:
        return ParsedItem(None, faults)
    page = found.value
    whole = {
        "name": page.name,
        "slug": page.slug or (before.body["slug"] if before else None),
        "domain": page.domain and page.domain.lower(),
        "visibility": page.visibility,
        "password": page.password,
        "branding": to_json(page.branding),
        "components": [_component(to_json(settings)) for settings in page.components],
    }
    if page.password and await _is_kept(context, page.password, before):
        whole["password"] = before and before.body["password"]
    return ParsedItem(whole)


async def create(context: ApplyContext, item: Body) -> CreatedItem:
    known = await status_pages.create(context.means.db, context.who, item, context.now, own=context.own)
    return CreatedItem(known.page.id, known.warnings)


async def update(context: ApplyContext, before: ExistingResource, whole: Body) -> Sequence[str]:
    """Update the page's own fields, then its components."""
    body = different(before.body, whole)
    wanted = body.pop("components", None)
    warnings: Sequence[str] = ()
    if body:
        known = await status_pages.update(
            context.means.db, context.who, before.id, body, context.now, own=context.own
        )
        warnings = known.warnings
    if wanted is not None:
        await _furnish(context, before, wanted)
    return warnings


async def delete(context: ApplyContext, id_: UUID) -> None:
    await status_pages.delete(context.means.db, context.who, id_)


def hidden(whole: Body) -> dict[str, Any]:
    return {**whole, "password": whole["password"] and mask(whole["password"])}


def spared(whole: Body) -> dict[str, Any]:
    page = spare(NewPage, {name: value for name, value in whole.items() if name != "branding"})
    branding = spare(Branding, whole["branding"])
    stood = page.pop("components", [])
    if branding:
        page["branding"] = branding
    return page | ({"components": stood} if stood else {})


async def _present(tx: Tx, row: StatusPage) -> ExistingResource:
    stood = await parts.of_page(tx, row.team_id, row.id)
    body = {
        "name": row.name,
        "slug": row.slug,
        "domain": row.domain,
        "visibility": row.visibility,
        "password": row.password,
        "branding": {**to_json(Branding()), **row.branding},
        "components": [_component(components.settable(component)) for component in stood],
    }
    return ExistingResource(row.id, row.name, lambda: body, [component.id for component in stood])


def _component(body: Body) -> dict[str, Any]:
    return {name: body[name] for name in _OF_A_COMPONENT} | {"group": body["group"] or None}


def _component_faults(said: Any) -> dict[str, str]:
    """Return faults of components; two of one name in one group could not be matched the next time."""
    listed = [(at, one) for at, one in enumerate(said if isinstance(said, list) else []) if _is_named(one)]
    called = Counter(_called(one) for _, one in listed)
    faults: dict[str, str] = {}
    for at, one in listed:
        if called[_called(one)] > 1:
            faults[f"components[{at}].name"] = "two components of a group must not have the same name"
        found = not_declared(one, _NOT_OF_A_COMPONENT)
        faults |= {f"components[{at}].{name}": text for name, text in found.items()}
    return faults


def _is_named(one: Any) -> bool:
    return isinstance(one, Mapping) and isinstance(one.get("name"), str)


def _called(body: Body) -> tuple[str, str]:
    return str(body.get("group") or ""), body["name"]


async def _furnish(context: ApplyContext, before: ExistingResource, wanted: Sequence[Body]) -> None:
    """Make the page's components exactly these, in this order."""
    db, who, page, now = context.means.db, context.who, before.id, context.now
    there = dict(zip(before.parts, before.body["components"], strict=True))
    same = _paired(there, wanted)
    for id_ in there.keys() - set(same.values()):
        await components.delete(db, who, page, id_, now)
    order = []
    for at, one in enumerate(wanted):
        known = same.get(at)
        if known is None:
            known = (await components.add(db, who, page, one, now)).row.id
        elif there[known] != one:
            await components.update(db, who, page, known, different(there[known], one), now)
        order.append(ids.show("comp", known))
    await components.arrange(db, who, page, {"components": order}, now)


def _paired(there: Mapping[UUID, Body], wanted: Sequence[Body]) -> dict[int, UUID]:
    """Match *wanted* components by position: by name in the same group, else by name in any."""
    free, found = dict(there), dict[int, UUID]()
    for key in (_called, _name):
        for at, one in enumerate(wanted):
            if at in found:
                continue
            match = next((id_ for id_, other in free.items() if key(other) == key(one)), None)
            if match is not None:
                found[at] = match
                del free[match]
    return found


def _name(body: Body) -> str:
    return str(body["name"])


async def _is_kept(context: ApplyContext, password: str, before: ExistingResource | None) -> bool:
    """Whether it is the page's password already; if not, hash it for the later write."""
    kept = before.body["password"] if before else None
    if kept and (password == kept or await password_hashes.matches(password, kept, context.team_id)):
        return True
    await password_hashes.stored(password, context.team_id)
    return False


SORT = Sort(
    noun="status page",
    prefix="sp",
    refers={("components", "[]", "monitorId"): "monitors"},
    present=present,
    read=read,
    create=create,
    update=update,
    delete=delete,
    hidden=hidden,
    spare=spared,
)
