"""Builds forms from the API's models: a field for each member of a dataclass, with its bounds."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

import orjson
from annotated_types import Ge, Gt, Interval, Le, MaxLen

from collector.console.forms.fields import Control, Form, FormField
from collector.console.forms.texts import said
from collector.console.forms.value_texts import ValueText
from collector.console.language import gettext, translate
from collector.platform.validation.model_fields import Member, Shape, defaults, members, shape
from shared.kinds.fields import Secret

_LONG: Final = 10_000


def build(
    cls: Any,
    values: Mapping[str, Any] | None = None,
    faults: Mapping[str, str] | None = None,
    *,
    prefix: str = "",
    leave_out: Collection[str] = (),
    options: Mapping[str, Collection[tuple[str, str]]] | None = None,
) -> Form:
    """Build the form of *cls*. *values* are as the API shows them (camelCase), *faults* as its ``details``.

    *prefix* is added to every name, such as ``config.``; the faults of an API's direct field have none.
    *leave_out* names members without a field; *options*: the values of a member that the page knows
    (channels, monitors), by name, each with its label.
    """
    shown = {**defaults(cls), **(values or {})}
    left = dict(faults or {})
    fields = tuple(
        _field(cls, member, shown.get(member.alias), left, prefix + member.alias, (options or {}))
        for member in members(cls).values()
        if member.alias not in leave_out
    )
    return Form(fields, left)


def _field(
    cls: Any,
    member: Member,
    value: Any,
    left: dict[str, str],
    name: str,
    options: Mapping[str, Collection[tuple[str, str]]],
) -> FormField:
    form, words = shape(member.hint), said(cls, member.alias)
    given = options.get(member.alias)
    if given is not None:
        return _chosen(form, member, value, left, name, words, tuple(given))
    record = form.record()
    if record is not None:
        return _group(record, member, value, left, name, words)
    items = form.items()
    if items is not None and (of_items := shape(items).record()) is not None:
        return _rows(of_items, member, value, left, name, words)
    typed = _control(form, words)
    return FormField(
        name=name,
        label=words.label,
        control=typed,
        help=words.help,
        value=text(value, typed),
        options=_options(form, member, words),
        checked=_checked(value),
        required=_is_required(form, member, typed),
        **_bounds(form),
        unit=words.unit,
        example=words.example,
        fault=_fault(left, name),
    )


def _chosen(
    form: Shape,
    member: Member,
    value: Any,
    left: dict[str, str],
    name: str,
    words: ValueText,
    given: tuple[tuple[str, str], ...],
) -> FormField:
    many = form.items() is not None
    blank = (
        () if many or (member.required and value) else (("", translate(words.none) or gettext("Choose…")),)
    )
    return FormField(
        name=name,
        label=words.label,
        control="checks" if many else "choice",
        help=words.help,
        value="" if value is None or many else str(value),
        options=(*blank, *given),
        checked=_checked(value),
        required=member.required and not many,
        fault=_fault(left, name),
    )


def _group(
    record: Any, member: Member, value: Any, left: dict[str, str], name: str, words: ValueText
) -> FormField:
    below = value if isinstance(value, Mapping) else {}
    blank = {} if value is not None or shape(member.hint).nullable else defaults(record)
    fields = tuple(
        _field(record, member, {**blank, **below}.get(member.alias), left, f"{name}.{member.alias}", {})
        for member in members(record).values()
    )
    if shape(member.hint).nullable:
        # A group that may be omitted requires nothing in the browser.
        fields = tuple(replace(member, required=False) for member in fields)
    return FormField(
        name=name,
        label=words.label,
        control="group",
        help=words.help,
        fields=fields,
        fault=left.pop(name, left.pop(bare(name), "")),
    )


def _rows(
    record: Any, member: Member, value: Any, left: dict[str, str], name: str, words: ValueText
) -> FormField:
    del member
    given = value if isinstance(value, list) else []

    def row(at: int | str, shown: Mapping[str, Any]) -> tuple[FormField, ...]:
        return tuple(
            _field(record, member, shown.get(member.alias), left, f"{name}[{at}].{member.alias}", {})
            for member in members(record).values()
        )

    rows = tuple(row(at, shown) for at, shown in enumerate(given))
    return FormField(
        name=name,
        label=words.label,
        control="rows",
        help=words.help,
        rows=rows,
        blank=row("#", {}),
        fault=_fault(left, name),
    )


def _is_required(form: Shape, member: Member, typed: Control) -> bool:
    """Whether the field is required; a choice always has a value, so it is not called optional."""
    return typed not in ("switch", "checks") and (
        member.required or (typed == "choice" and not form.nullable)
    )


def control(cls: Any, member: Member) -> Control:
    """Return the control of a member of *cls*."""
    return _control(shape(member.hint), said(cls, member.alias))


def _control(form: Shape, words: ValueText) -> Control:
    """Return the control for a value of that shape."""
    if words.control is not None:
        return words.control
    plain: tuple[tuple[bool, Control], ...] = (
        (bool in form.options, "switch"),
        (_lists_words(form), "checks"),
        (form.values() is not None, "pairs"),
        (form.items() is not None and len(form.options) == 1, "lines"),
        (bool(form.words()) and len(form.options) == 1, "choice"),
        (set(form.options) <= {int, float}, "number"),
        (form.mark(Secret) is not None and not _is_long(form), "secret"),
        (_is_long(form), "area"),
        (str in form.options or bool(form.words()), "text"),
    )
    return next((control for fits, control in plain if fits), "json")


def _lists_words(form: Shape) -> bool:
    items = form.items()
    return items is not None and len(form.options) == 1 and bool(shape(items).words())


def _is_long(form: Shape) -> bool:
    longest = form.mark(MaxLen)
    return longest is not None and longest.max_length >= _LONG and str in form.options


def _options(form: Shape, member: Member, words: ValueText) -> tuple[tuple[str, str], ...]:
    items = form.items()
    known = form.words() or (shape(items).words() if items is not None else ())
    found = tuple((str(word), translate(words.words.get(str(word), str(word)))) for word in known)
    if not form.words() or not (form.nullable or member.required):
        return found
    none = translate(words.none) or (gettext("Choose…") if member.required else gettext("Not set"))
    return (("", none), *found)


def _bounds(form: Shape) -> dict[str, Any]:
    """Return the bounds that a browser can check; the server checks the rest."""
    interval = form.mark(Interval)
    low = [
        interval.ge if interval else None,
        getattr(form.mark(Ge), "ge", None),
        getattr(form.mark(Gt), "gt", None),
    ]
    high = [interval.le if interval else None, getattr(form.mark(Le), "le", None)]
    longest = form.mark(MaxLen)
    return {
        "least": next((str(limit) for limit in low if limit is not None), None),
        "most": next((str(limit) for limit in high if limit is not None), None),
        "longest": longest.max_length if longest and str in form.options else None,
    }


def _fault(left: dict[str, str], name: str) -> str:
    """Return the fault of a field or of its parts (``locations[1]``), and remove it from *left*."""
    for mine in (name, bare(name)):
        if mine in left:
            return left.pop(mine)
        below = [key for key in left if key.startswith((f"{mine}[", f"{mine}."))]
        if below:
            return "; ".join(f"{key.removeprefix(mine)} {left.pop(key)}" for key in below)
    return ""


def bare(name: str) -> str:
    """Return ``auth.type`` for ``config.auth.type``, as ``details`` name it."""
    return name.removeprefix("config.")


def text(value: Any, typed: Control) -> str:
    """Return *value* as the text of a field."""
    if value is None or typed in ("switch", "checks"):
        return ""
    if typed == "lines" and isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    if typed == "pairs" and isinstance(value, Mapping) and not any(map(_is_list, value.values())):
        return "\n".join(f"{key}: {item}" for key, item in value.items())
    if typed == "json" or (typed == "pairs" and not isinstance(value, str)):
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _checked(value: Any) -> frozenset[str]:
    if isinstance(value, bool):
        return frozenset({"on"}) if value else frozenset()
    return frozenset(map(str, value)) if isinstance(value, list | tuple) else frozenset()
