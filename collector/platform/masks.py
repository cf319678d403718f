"""Masks secrets for read-only callers, and accepts a masked value that is sent back as unchanged."""

from collections.abc import Mapping
from functools import cache
from itertools import zip_longest
from typing import Any

from collector.platform.validation.shapes import members, shape
from shared import url_secrets
from shared.kinds import secret_fields
from shared.kinds.fields import HidesSecrets, Secret

_MASK = url_secrets.MASK
_SHOWN = 4
# Four characters of a shorter text would reveal too much of it.
_LONG_ENOUGH = 8


def mask(text: str) -> str:
    """Hide all but the last four characters, and the length."""
    if not text:
        return text
    return _MASK + (text[-_SHOWN:] if len(text) >= _LONG_ENOUGH else "")


def masked(cls: Any, config: Mapping[str, Any]) -> dict[str, Any]:
    """*config* (JSON of *cls*) with its secrets masked; of a secret object only its secret fields."""
    known = members(cls)
    shown = {**config, **hides(cls, config)}
    return {
        name: _masked(known[name].hint, value) if name in known else value for name, value in shown.items()
    }


def hides(cls: Any, config: Mapping[str, Any]) -> dict[str, str]:
    """The URLs in *config* (JSON of *cls*) that contain secrets, with these masked."""
    urls = ((name, config[name]) for name in _hiding(cls) if isinstance(config.get(name), str))
    return {name: shown for name, url in urls if (shown := url_secrets.masked(url)) != url}


@cache
def _hiding(cls: Any) -> tuple[str, ...]:
    """The fields that may be URLs with secrets."""
    return tuple(name for name, member in members(cls).items() if shape(member.hint).mark(HidesSecrets))


def open_parts(cls: Any, config: Mapping[str, Any]) -> dict[str, Any]:
    """The readable parts of fields in *config* (JSON of *cls*) that are not secret but contain a secret."""
    return {**hides(cls, config), **_open_records(cls, config)}


def _open_records(cls: Any, config: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name, hidden in _records(cls):
        value = config.get(name)
        if isinstance(value, dict) and any(value.get(secret) is not None for secret in hidden):
            found[name] = {key: part for key, part in value.items() if key not in hidden}
    return found


@cache
def _records(cls: Any) -> tuple[tuple[str, frozenset[str]], ...]:
    """The fields that are objects but no secrets, each with its own secret fields."""
    forms = ((name, shape(member.hint)) for name, member in members(cls).items())
    records = ((name, form.record()) for name, form in forms if not form.mark(Secret))
    return tuple((name, secret_fields(record)) for name, record in records if record is not None)


def kept(sent: Any, old: Any) -> Any:
    """*sent* with every mask replaced by the value at the same place in *old*.

    List items may have moved; a text and a list of only that text are equivalent.
    """
    if isinstance(sent, dict) and isinstance(old, dict):
        return {name: kept(value, old.get(name)) for name, value in sent.items()}
    if isinstance(sent, list) and isinstance(old, list | str):
        return _kept_list(sent, [old] if isinstance(old, str) else old)
    if isinstance(old, list) and len(old) == 1:
        return kept(sent, old[0])
    return _unmasked(sent, old) if isinstance(sent, str) and isinstance(old, str) else sent


def _kept_list(sent: list[Any], old: list[Any]) -> list[Any]:
    found = [kept(value, before) for value, before in zip_longest(sent, old[: len(sent)])]
    masked_now = {mask(text): text for text in reversed(old) if isinstance(text, str)}
    return [
        masked_now.get(value, value) if isinstance(value, str) and value.startswith(_MASK) else value
        for value in found
    ]


def _unmasked(sent: str, old: str) -> str:
    if sent.startswith(_MASK) and sent == mask(old):
        return old
    return url_secrets.restored(sent, old)


def _masked(hint: Any, value: Any) -> Any:
    form = shape(hint)
    record = form.record()
    if record and isinstance(value, dict):
        return masked(record, value)
    return value if form.mark(Secret) is None else _hidden(value)


def _hidden(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _hidden(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_hidden(part) for part in value]
    return mask(value) if isinstance(value, str) else value
