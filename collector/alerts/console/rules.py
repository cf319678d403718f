"""Alert rules: channels and conditions, and a preview before one is saved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from aiohttp import web

from collector.alerts.console import sections
from collector.alerts.core import rule_sentences
from collector.alerts.core.rule_fields import Conditions, Escalation, RuleSettings
from collector.alerts.core.rule_sentences import RuleParts, SentencePart
from collector.alerts.service import preview as rule_preview
from collector.alerts.service import rules
from collector.alerts.service.preview import Preview
from collector.alerts.service.rules import RuleDetails
from collector.alerts.storage.rules import RuleFilter, RuleRow
from collector.console import common
from collector.console.answers import back, page, posted, value
from collector.console.forms import edits, forms, read
from collector.console.forms.fields import Form
from collector.console.forms.read import Posted
from collector.console.language import gettext
from collector.console.render import Tone
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.monitors.console import pickers
from collector.monitors.service import reads
from collector.platform.validation.validation import to_json
from shared import ids
from shared.errors import Invalid, PreconditionFailed

HERE: Final = "/alerting/rules"
_POLICY: Final = "escalationPolicy"
_TOLD: Final = ("name", "enabled", "channels")
_WHOSE: Final = ("monitors",)
_HOW_OFTEN: Final = ("notifyOnRecovery", "repeatMinutes")
_MOST_SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule in the list; *channels*: its enabled ones."""

    row: RuleRow
    channels: list[str]
    sentence: list[SentencePart]


async def list_(request: web.Request) -> web.StreamResponse:
    number, every = common.asked(request), await sections.every_channel(request)
    offset = (number - 1) * common.PER_PAGE
    team_id = visitor(request).team_id
    found, total = await rules.page(context_of(request).db, team_id, RuleFilter(), common.PER_PAGE, offset)
    names = {channel.row.id: channel.row.name for channel in every if channel.row.enabled}
    chosen = [id_ for details in found for id_ in details.row.monitors]
    monitors = await reads.names(context_of(request).db, team_id, chosen) if chosen else {}
    return page(
        request,
        "rules.html.j2",
        rows=[_line(details.row, names, monitors) for details in found],
        silence=sections.silence(every),
        at=common.at(request, number, total),
    )


async def new(request: web.Request) -> web.StreamResponse:
    return await _drawn(request, {}, {})


async def create(request: web.Request) -> web.StreamResponse:
    form = await posted(request)
    sent = _sent(form)
    if pickers.asked(form):
        return await _drawn(request, sent, {})
    try:
        edits.check_tags(form)
        made = await rules.create(
            context_of(request).db, who(request), edits.said(sent), context_of(request).now()
        )
    except Invalid as fault:
        return await _drawn(request, sent, fault.details, status=400)
    return back(request, HERE, _done(gettext("Rule created."), made), tone=_tone(made))


async def edit(request: web.Request) -> web.StreamResponse:
    known = await _known(request)
    return await _drawn(request, rules.settable(known.row), {}, known)


async def update(request: web.Request) -> web.StreamResponse:
    known, form = await _known(request), await posted(request)
    sent, shown = _sent(form), rules.settable(known.row)
    if pickers.asked(form):
        return await _drawn(request, sent, {}, known)
    whole = edits.whole(RuleSettings, sent)
    body = {name: edits.patch(shown.get(name), one) for name, one in whole.items()}
    body["tags"] = sent["tags"]
    if not (sent["tags"] or shown["tags"]):
        # A rule whose monitors are all deleted applies to none: saving the form must not apply it to all.
        del body["tags"]
    try:
        edits.check_tags(form)
        after = await rules.update(
            context_of(request).db,
            who(request),
            known.row.id,
            body,
            context_of(request).now(),
            only=edits.only(form),
        )
    except Invalid as fault:
        return await _drawn(request, sent, fault.details, known, status=400)
    except PreconditionFailed:
        return await _drawn(request, sent, edits.CHANGED, known, status=412)
    return back(request, HERE, _done("Saved.", after), tone=_tone(after))


async def preview(request: web.Request) -> web.StreamResponse:
    """Show what the rule would have done over the past days, and the form as it was sent."""
    form, context, team_id = await posted(request), context_of(request), visitor(request).team_id
    sent, id_ = _sent(form), ids.read("rule", value(form, "rule"))
    known = await rules.one(context.db, team_id, id_) if id_ else None
    try:
        edits.check_tags(form)
        found = await rule_preview.preview(context.db, team_id, edits.said(sent), context.now())
    except Invalid as fault:
        return await _drawn(request, sent, fault.details, known, status=400)
    return await _drawn(request, sent, {}, known, preview=found)


async def delete(request: web.Request) -> web.StreamResponse:
    await rules.delete(context_of(request).db, who(request), _id(request))
    return back(request, HERE, "Rule deleted. Channels with firing alerts are notified of the recovery.")


async def _drawn(
    request: web.Request,
    shown: Mapping[str, Any],
    faults: Mapping[str, str],
    known: RuleDetails | None = None,
    *,
    preview: Preview | None = None,
    status: int = 200,
) -> web.Response:
    every = await sections.every_channel(request)
    choice = await pickers.monitors(request, shown.get("monitors") or ())
    options = {"channels": sections.channel_options(every), "monitors": choice.options}
    of_policy, of_tags = edits.of(faults, _POLICY), edits.of(faults, "tags")
    left = {name: text for name, text in faults.items() if name not in {*of_policy, *of_tags}}
    values = {**shown, "conditions": {**to_json(Conditions()), **(shown.get("conditions") or {})}}
    whole = forms.build(RuleSettings, values, left, leave_out={_POLICY, "tags"}, options=options)
    policy = _policy(shown.get(_POLICY), of_policy, options["channels"])
    tags = edits.tag_fields(shown.get("tags"), of_tags)
    return page(
        request,
        "rule_form.html.j2",
        status=status,
        known=known,
        id=ids.show("rule", known.row.id) if known else "",
        revision=await edits.revision(request, known.row.revision) if known else "",
        told=whole.named(*_TOLD),
        conditions=whole.named("conditions")[0].fields,
        selection=[*choice.into(whole.named(*_WHOSE), "monitors"), *tags],
        often=whole.named(*_HOW_OFTEN),
        policy=policy.fields,
        summary=Form((*whole.fields, *tags, *policy.fields), {**whole.faults, **policy.faults}),
        sentence=_sentence(shown, options["channels"], choice.options, known),
        preview=preview,
        most=_MOST_SHOWN,
        reason=sections.reason,
        channels=every,
    )


def _policy(shown: Any, faults: Mapping[str, str], channels: pickers.Options) -> Form:
    """Build the form of an escalation policy; without one, no field is required."""
    form = forms.build(
        Escalation,
        shown or {"maxEscalations": None},
        faults,
        prefix=f"{_POLICY}.",
        options={"escalateToChannels": channels},
    )
    return Form(tuple(replace(field, required=False) for field in form.fields), form.faults)


def _sent(form: Posted) -> dict[str, Any]:
    return {**read.body(RuleSettings, form), "tags": edits.tags(form)}


def _line(row: RuleRow, channels: Mapping[UUID, str], monitors: Mapping[UUID, str]) -> RuleLine:
    named = [channels[id_] for id_ in row.channels if id_ in channels]
    return RuleLine(row, named, rule_sentences.sentence(parts(row, channels, monitors)))


def parts(row: RuleRow, channels: Mapping[UUID, str], monitors: Mapping[UUID, str]) -> RuleParts:
    """Return the rule's settings with the names of its enabled channels and of its monitors."""
    escalation = row.escalation or {}
    return RuleParts(
        every=row.every,
        monitors=[monitors.get(id_, gettext("a deleted monitor")) for id_ in row.monitors],
        tags=_tags(row.tags),
        every_tag=isinstance(row.tags, Mapping),
        conditions=row.conditions,
        channels=[channels[id_] for id_ in row.channels if id_ in channels],
        repeat_minutes=row.repeat_minutes,
        recovery=row.notify_on_recovery,
        delay_minutes=escalation.get("delayMinutes"),
        later=[channels[id_] for id_ in row.escalate_to if id_ in channels],
        steps=escalation.get("maxEscalations") or 1,
    )


def _tags(tags: Mapping[str, str] | Sequence[str]) -> list[str]:
    return [f"{name}:{text}" for name, text in tags.items()] if isinstance(tags, Mapping) else [*tags]


def _sentence(
    shown: Mapping[str, Any],
    channels: pickers.Options,
    monitors: pickers.Options,
    known: RuleDetails | None,
) -> list[SentencePart]:
    """Return the sentence of the form's rule; *channels* and *monitors*: what it offers."""
    names, of_monitors = dict(channels), dict(monitors)
    escalation, tags = shown.get(_POLICY) or {}, shown.get("tags") or {}
    chosen = shown.get("monitors") or ()
    return rule_sentences.sentence(
        RuleParts(
            every=not chosen and not tags and (known is None or known.row.every),
            monitors=[of_monitors.get(id_, id_) for id_ in chosen],
            tags=_tags(tags),
            every_tag=isinstance(tags, Mapping),
            conditions=shown.get("conditions") or {},
            channels=[names[id_] for id_ in shown.get("channels") or () if id_ in names],
            repeat_minutes=_whole(shown.get("repeatMinutes")),
            recovery=shown.get("notifyOnRecovery") is not False,
            delay_minutes=_whole(escalation.get("delayMinutes")),
            later=[names[id_] for id_ in escalation.get("escalateToChannels") or () if id_ in names],
            steps=_whole(escalation.get("maxEscalations")) or 1,
        )
    )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _done(text: str, known: RuleDetails) -> str:
    return ". ".join([text.rstrip("."), *known.warnings]) + ("" if known.warnings else ".")


def _tone(known: RuleDetails) -> Tone:
    return "warn" if known.warnings else "good"


def _id(request: web.Request) -> UUID:
    return path_id(request, "rule", rules.WHAT)


async def _known(request: web.Request) -> RuleDetails:
    """Return the rule of the path. Raises NotFound."""
    return await rules.one(context_of(request).db, visitor(request).team_id, _id(request))
