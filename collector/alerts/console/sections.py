"""What the pages of alerting share: what there is to choose from, and whether anybody would be told."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from aiohttp import hdrs, web

from collector.console.answers import posted, value
from collector.console.forms.fields import FormField
from collector.console.forms.read import Posted
from collector.console.state import visitor
from collector.http.deps import deps
from collector.monitors.console.pickers import Options
from collector.notifications.service import channels
from collector.notifications.service.channels import ChannelDetails
from collector.platform.validation.model_fields import defaults
from shared import ids
from shared.errors import Invalid

_REASONS: Final[Mapping[str, str]] = {
    "consecutiveFailures": "{} failed checks in a row",
    "latencyThresholdMs": "answered after {} ms",
    "statusCode": "answered with status {}",
    "errorRatePercent": "{} % of checks failed",
    "availability": "{} % of checks were good",
}
CHANGED: Final = {"revision": "somebody else changed this meanwhile: open it anew and look first"}


async def every_channel(request: web.Request) -> list[ChannelDetails]:
    at_hand = deps(request)
    found, _ = await channels.page(at_hand.db, at_hand.keyring, visitor(request).team_id, None, None, 0)
    return found


def silence(known: Sequence[ChannelDetails]) -> str:
    """Why nothing would tell anybody of an outage, by the team's channels; empty when something would."""
    if not known:
        return "Nothing would tell you: there is no channel yet."
    awake = [one for one in known if one.row.enabled]
    used = [one for one in awake if one.used]
    if not used and not any(one.row.type == "webhook" for one in awake):
        return "Nothing would tell you: no rule sends to a channel that is on."
    if not used:
        return "No rule tells anybody: only webhooks hear of outages, by themselves."
    if all(one.fault is not None and one.fault.flagged for one in used):
        return "Nothing may reach you: every channel that rules send to fails."
    return ""


def reason(key: str, value: float | None) -> str:
    """Why a rule fired, in words."""
    return _REASONS[key].format(f"{value:g}") if key in _REASONS and value is not None else key


def channel_options(known: Iterable[ChannelDetails]) -> Options:
    return [
        (
            ids.show("chan", one.row.id),
            f"{one.row.name} ({one.row.type}{'' if one.row.enabled else ', off'})",
        )
        for one in known
    ]


def tag_fields(tags: Any, faults: Mapping[str, str]) -> tuple[FormField, FormField]:
    """Tags to choose monitors by: all of an object's, any of a list's."""
    lines = [f"{name}:{one}" for name, one in tags.items()] if isinstance(tags, Mapping) else [*(tags or ())]
    return (
        FormField(
            name="tags",
            label="Tags",
            control="lines",
            help="One a line: a tag's name, or name:value.",
            value="\n".join(lines),
            fault="; ".join(faults.values()),
        ),
        FormField(
            name="tagsMatch",
            label="Those that have",
            control="choice",
            value="all" if isinstance(tags, Mapping) and tags else "any",
            options=(("any", "any of these tags"), ("all", "all of these tags")),
            required=True,
        ),
    )


def tags(form: Posted) -> dict[str, str] | list[str]:
    """What the fields of `tag_fields` were sent with, as the API takes it."""
    lines = [line.strip() for line in value(form, "tags").split("\n") if line.strip()]
    if not lines:
        return {}
    if value(form, "tagsMatch") != "all" or not all(":" in line for line in lines):
        return lines
    pairs = (line.partition(":") for line in lines)
    return {name.strip(): one.strip() for name, _, one in pairs}


def check_tags(form: Posted) -> None:
    """Raises Invalid: of all of these tags each needs its value."""
    if value(form, "tagsMatch") == "all" and isinstance(tags(form), list):
        raise Invalid({"tags": "to have all of them each needs its value: name:value"})


def of(faults: Mapping[str, str], name: str) -> dict[str, str]:
    """The faults of the field *name*, and of what stands in it."""
    return {
        key: said for key, said in faults.items() if key == name or key.startswith((f"{name}.", f"{name}["))
    }


def said(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Without what was left empty, for which there are defaults."""
    return {name: one for name, one in fields.items() if one is not None}


def whole(cls: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """With the defaults of *cls* for what was left empty."""
    usual = defaults(cls)
    return {name: usual.get(name) if one is None else one for name, one in fields.items()}


def patch(old: Any, new: Any) -> Any:
    """*new* as a merge patch of *old* that leaves nothing of it: null where something is gone.

    What reads the same is the same: a form does not tell a number from its digits.
    """
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return old if new is not None and str(old) == str(new) else new
    return {**dict.fromkeys(old), **{name: patch(old.get(name), one) for name, one in new.items()}}


def only(form: Posted) -> frozenset[str] | None:
    """The revision that the form was drawn of."""
    return frozenset({value(form, "revision")}) if value(form, "revision") else None


async def revision(request: web.Request, now: int) -> str:
    """That the form was drawn of at first: drawn again, it must not take for seen what changed meanwhile."""
    form = await posted(request) if request.method == hdrs.METH_POST else {}
    return value(form, "revision") or str(now)
