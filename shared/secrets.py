"""Finds the secrets in a monitor's configuration, in every form in which an answer may repeat them."""

import base64
import html
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from shared.kinds.fields import HidesSecrets, Secret
from shared.url_secrets import query_secrets

# Values of these headers are public, and a response would be unreadable without them.
OPEN_HEADERS: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "cache-control",
        "content-type",
        "host",
        "pragma",
        "user-agent",
    }
)
# Shorter parts of a body occur in any response.
_PART: Final = 6
_MOST_PARTS: Final = 200
_MOST_TEXTS: Final = 500


def secret_texts(kind: Any) -> tuple[str, ...]:
    """All texts that only the target may see; *kind* is a configuration of `shared.kinds`."""
    texts: dict[str, None] = {}
    for text in _of_record(kind):
        for form in _forms(text):
            texts[form] = None
        if len(texts) >= _MOST_TEXTS:
            break
    return tuple(texts)


def _of_record(record: Any) -> Iterator[str]:
    hints = get_type_hints(type(record), include_extras=True)
    for field in fields(record):
        value, marks = getattr(record, field.name), _marks(hints[field.name])
        if any(isinstance(mark, HidesSecrets) for mark in marks) and isinstance(value, str):
            yield from _of_url(value)
        if is_dataclass(value) and not isinstance(value, type):
            yield from _of_record(value)
        elif any(isinstance(mark, Secret) for mark in marks):
            yield from _of_value(field.name, value)
    if getattr(record, "username", ""):
        yield _basic(record.username, getattr(record, "password", ""))


def _of_value(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if str(key).lower() not in OPEN_HEADERS:
                yield from _of_header(str(item))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _of_value(name, item)
    elif isinstance(value, str) and value:
        yield value
        if name == "body":
            yield from _parts(value)


def _of_header(value: str) -> Iterator[str]:
    """The value, and the part after a scheme: ``Bearer abc``."""
    yield value
    scheme, _, rest = value.partition(" ")
    if scheme.isalpha() and rest:
        yield rest


def _of_url(url: str) -> Iterator[str]:
    yield from query_secrets(url)
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    if parts.username is None:
        return
    username, password = unquote(parts.username), unquote(parts.password or "")
    yield from (text for text in (password, parts.password or "") if text)
    yield _basic(username, password)


def _parts(body: str) -> Iterator[str]:
    """The texts in a JSON or form body."""
    try:
        texts = list(_leaves(json.loads(body)))
    except (ValueError, RecursionError):
        texts = [value for _, value in parse_qsl(body)]
    yield from [text for text in texts if len(text) >= _PART][:_MOST_PARTS]


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, str):
        yield value


def _forms(text: str) -> tuple[str, ...]:
    """The text as it is, and as escaped in JSON, URLs, forms and HTML."""
    return (
        text,
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        quote(text, safe="", errors="replace"),
        quote_plus(text, errors="replace"),
        html.escape(text),
    )


def _basic(username: str, password: str) -> str:
    return base64.b64encode(f"{username}:{password}".encode("utf-8", "replace")).decode()


def _marks(hint: Any) -> tuple[Any, ...]:
    """All marks of a field, also within a union."""
    if get_origin(hint) is Annotated:
        return get_args(hint)[1:]
    return tuple(mark for part in get_args(hint) for mark in _marks(part))
