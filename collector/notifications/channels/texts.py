"""Title and body of a message: by the team's templates, or by the built-in ones where those fail."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Annotated, Any, Final

from annotated_types import MaxLen
from jinja2 import Template, TemplateError

from collector.notifications.channels import _language as language
from collector.notifications.channels.phrases import BODY, TITLE, TITLES
from collector.notifications.core.summary import Notice
from collector.platform.plain_text import cut, one_line
from shared.kinds.fields import camel

MAX_TITLE: Final = 1_000
MAX_BODY: Final = 16_000
_DEPTH: Final = 4
# These messages say so themselves, whatever a team's templates contain.
_TEST: Final = "test"

# Names that a template may use: parts of the event's webhook payload, and values derived from them.
_PARTS: Final = (
    "monitor",
    "incident",
    "alert",
    "probe",
    "channel",
    "actor",
    "note",
    "log",
    "links",
    "message",
    "timestamp",
    "locationStates",
    "degraded",
    "flapping",
)
_MADE: Final = ("source", "severity", "since", "lasted", "error", "reason", "locations", "link")
NAMES: Final = frozenset({*_PARTS, *_MADE, "event", "phase", "facts"})

_ENVIRONMENT: Final = language.environment()


@dataclass(frozen=True, slots=True, kw_only=True)
class Templates:
    """A team's own texts, in the Jinja2 subset of `_language`; None: the built-in text."""

    title: Annotated[str | None, MaxLen(language.MAX_SOURCE)] = None
    """Jinja2 template of the title; by default the built-in one."""
    body: Annotated[str | None, MaxLen(language.MAX_SOURCE)] = None
    """Jinja2 template of the text; by default the built-in one."""

    def faults(self) -> dict[str, str]:
        """The errors of each template, by its JSON field name."""
        found = {
            camel(field.name): language.fault(_ENVIRONMENT, source, NAMES)
            for field in fields(self)
            if (source := getattr(self, field.name)) is not None
        }
        return {name: text for name, text in found.items() if text is not None}


@dataclass(frozen=True, slots=True)
class MessageText:
    """*title* is one line; *own*: the body is the team's; *fault*: why a built-in text was used instead."""

    title: str
    body: str
    own: bool = False
    fault: str | None = None


def write(notice: Notice, templates: Templates | None) -> MessageText:
    """Render the texts; never fails: if a team's template does, *fault* says so."""
    templates = templates or Templates()
    known = _known(notice)
    title, bad_title = _rendered(templates.title, known, MAX_TITLE)
    body, bad_body = _rendered(templates.body, known, MAX_BODY)
    fault = "; ".join(
        f"the channel's template of the {part} failed ({why}), the built-in text was sent"
        for part, why in (("title", bad_title), ("body", bad_body))
        if why
    )
    if notice.kind == _TEST:
        title = title and f"Test: {title}"
        body = body and f"{_built_in(BODY, known, MAX_BODY)}\n\n{body}"
    title = one_line(title or "") or one_line(_built_in(TITLES.get(notice.kind, TITLE), known, MAX_TITLE))
    return MessageText(
        title=title or notice.kind,
        body=body if body is not None else _built_in(BODY, known, MAX_BODY),
        own=body is not None,
        fault=fault or None,
    )


def _built_in(source: str, known: Mapping[str, Any], most: int) -> str:
    return _rendered(source, known, most)[0] or ""


def _rendered(source: str | None, known: Mapping[str, Any], most: int) -> tuple[str | None, str]:
    """The text, or None and the reason why it could not be rendered."""
    if source is None:
        return None, ""
    try:
        template = _compiled(source)
        parts, length = [], 0
        for part in template.generate(known):
            parts.append(part)
            length += len(part)
            if length > most:
                break
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        return None, cut(one_line(str(error)), 200) or type(error).__name__
    return cut("".join(parts).strip(), most), ""


@lru_cache(maxsize=1_000)
def _compiled(source: str) -> Template:
    """Compile a stored template. Raises ValueError if this version's language does not support it."""
    if (text := language.fault(_ENVIRONMENT, source, NAMES)) is not None:
        raise ValueError(text)
    return language.compiled(_ENVIRONMENT, source)


def _known(notice: Notice) -> dict[str, Any]:
    event = {name: _bounded(notice.event[name]) for name in _PARTS if name in notice.event}
    return {
        **{name: {} for name in ("monitor", "incident", "alert", "probe", "channel", "note", "links", "log")},
        **event,
        **{name: _bounded(getattr(notice, name)) for name in _MADE},
        "event": notice.kind,
        "phase": notice.phase.value,
        "facts": [{"label": label, "value": _bounded(value)} for label, value in notice.facts],
    }


def _bounded(value: Any, depth: int = 0) -> Any:
    """A copy of plain values, truncated to a size that is safe to give to a template."""
    if isinstance(value, str):
        return value[: language.MAX_VALUE]
    if isinstance(value, Mapping) and depth < _DEPTH:
        named = list(value.items())[: language.MAX_ITEMS]
        return {str(name)[: language.MAX_VALUE]: _bounded(part, depth + 1) for name, part in named}
    if isinstance(value, list | tuple) and depth < _DEPTH:
        return [_bounded(part, depth + 1) for part in value[: language.MAX_ITEMS]]
    return value if isinstance(value, bool | int | float) else None
