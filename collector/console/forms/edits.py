"""Shared by edit forms: choice by tags, faults of a field, merge patches, revisions."""

from collections.abc import Mapping
from typing import Any, Final

from aiohttp import hdrs, web

from collector.console.answers import posted, value
from collector.console.forms.fields import FormField
from collector.console.forms.read import Posted
from collector.console.language import gettext, marked
from collector.platform.validation.model_fields import defaults
from shared.errors import Invalid

CHANGED: Final = {"revision": marked("someone else changed this meanwhile: open it anew and look first")}


def tag_fields(tags: Any, faults: Mapping[str, str]) -> tuple[FormField, FormField]:
    """Return the fields to choose monitors by tags: all tags of an object, any tag of a list."""
    lines = (
        [f"{name}:{text}" for name, text in tags.items()] if isinstance(tags, Mapping) else [*(tags or ())]
    )
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
            options=(("any", gettext("any of these tags")), ("all", gettext("all of these tags"))),
            required=True,
        ),
    )


def tags(form: Posted) -> dict[str, str] | list[str]:
    """Return the submitted fields of `tag_fields`, in the API's form."""
    lines = [line.strip() for line in value(form, "tags").split("\n") if line.strip()]
    if not lines:
        return {}
    if value(form, "tagsMatch") != "all" or not all(":" in line for line in lines):
        return lines
    pairs = (line.partition(":") for line in lines)
    return {name.strip(): text.strip() for name, _, text in pairs}


def check_tags(form: Posted) -> None:
    """Check that "all of these tags" come with values. Raises Invalid."""
    if value(form, "tagsMatch") == "all" and isinstance(tags(form), list):
        raise Invalid({"tags": marked("to have all of them each needs its value: name:value")})


def of(faults: Mapping[str, str], name: str) -> dict[str, str]:
    """Return the faults of the field *name*, and of its parts."""
    return {
        key: text for key, text in faults.items() if key == name or key.startswith((f"{name}.", f"{name}["))
    }


def said(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return *fields* without empty ones, so that defaults apply."""
    return {name: value for name, value in fields.items() if value is not None}


def whole(cls: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return *fields*, the empty ones with the defaults of *cls*."""
    usual = defaults(cls)
    return {name: usual.get(name) if value is None else value for name, value in fields.items()}


def patch(old: Any, new: Any) -> Any:
    """Return the merge patch that turns *old* into *new*: null where a member is missing.

    Values with the same text are equal: a form does not distinguish a number from its digits.
    """
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return old if new is not None and str(old) == str(new) else new
    return {**dict.fromkeys(old), **{name: patch(old.get(name), value) for name, value in new.items()}}


def only(form: Posted) -> frozenset[str] | None:
    """Return the revision that the form was rendered from."""
    return frozenset({value(form, "revision")}) if value(form, "revision") else None


async def revision(request: web.Request, now: int) -> str:
    """Return the revision of the form's first rendering: rendered again, it must not hide newer changes."""
    form = await posted(request) if request.method == hdrs.METH_POST else {}
    return value(form, "revision") or str(now)
