"""Alert rules in files."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID

from collector.alerts.answers import RuleAnswer
from collector.alerts.core.rule_fields import Conditions, RuleSettings
from collector.alerts.service import rules
from collector.alerts.service.rule_fields import for_create
from collector.alerts.storage import rules as table
from collector.alerts.storage.rules import RuleFilter
from collector.declarative.service.shape import (
    ApplyContext,
    Body,
    CreatedItem,
    ExistingResource,
    ParsedItem,
    Sort,
    different,
    faults_of,
    patch,
    spare,
)
from collector.platform.answer_json import read_only
from collector.platform.storage.db import Tx
from collector.platform.validation.validation import to_json

_READ_ONLY: Final = read_only(RuleAnswer, RuleSettings)
_MERGED = ("conditions", "escalationPolicy")


async def present(context: ApplyContext, tx: Tx) -> list[ExistingResource]:
    """Return all rules. One whose monitors are all deleted is not sayable: in a file, none means all."""
    rows = await table.newest(tx, context.team_id, RuleFilter(), None, 0)
    return [
        ExistingResource(
            row.id,
            row.name,
            partial(rules.settable, row),
            sayable=row.every or bool(row.monitors or row.tags),
        )
        for row in reversed(rows)
    ]


async def read(context: ApplyContext, item: Body, before: ExistingResource | None) -> ParsedItem:
    del context, before
    rule = for_create(item)
    faults = faults_of(item, _READ_ONLY, rule)
    return ParsedItem(None, faults) if faults or rule.rule is None else ParsedItem(_whole(rule.rule))


async def create(context: ApplyContext, item: Body) -> CreatedItem:
    known = await rules.create(context.means.db, context.who, item, context.now)
    return CreatedItem(known.row.id, known.warnings)


async def update(context: ApplyContext, before: ExistingResource, whole: Body) -> Sequence[str]:
    body = different(before.body, whole)
    for name in _MERGED:
        if name in body:
            body[name] = patch(before.body[name], whole[name])
    return (await rules.update(context.means.db, context.who, before.id, body, context.now)).warnings


async def delete(context: ApplyContext, id_: UUID) -> None:
    await rules.delete(context.means.db, context.who, id_)


def spared(whole: Body) -> dict[str, Any]:
    said = spare(RuleSettings, whole)
    return {name: value for name, value in said.items() if name != "conditions" or value}


def _whole(rule: RuleSettings) -> dict[str, Any]:
    """Return the body as `rules.settable` does: only given conditions, and each id once."""
    body = to_json(rule)
    body["conditions"] = spare(Conditions, body["conditions"])
    policy = body["escalationPolicy"]
    if policy is not None:
        policy["escalateToChannels"] = _once(policy["escalateToChannels"])
    return {**body, "channels": _once(body["channels"]), "monitors": _once(body["monitors"])}


def _once(named: list[str]) -> list[str]:
    return list(dict.fromkeys(named))


SORT = Sort(
    noun="alert rule",
    prefix="rule",
    refers={
        ("monitors", "[]"): "monitors",
        ("channels", "[]"): "channels",
        ("escalationPolicy", "escalateToChannels", "[]"): "channels",
    },
    present=present,
    read=read,
    create=create,
    update=update,
    delete=delete,
    hidden=dict,
    spare=spared,
)
