"""Secrets as a read-only caller sees them, and what becomes of a masked one that is sent back."""

from collections.abc import Mapping
from typing import Any

from collector.services._shapes import members, shape
from shared.kinds.fields import Secret

_MASK = "********"
_SHOWN = 4
# Of a shorter text four characters would be too much of it.
_LONG_ENOUGH = 12


def mask(text: str) -> str:
    """All but the last four characters hidden, and its length too."""
    if not text:
        return text
    return _MASK + (text[-_SHOWN:] if len(text) >= _LONG_ENOUGH else "")


def masked(cls: Any, config: Mapping[str, Any]) -> dict[str, Any]:
    """*config* (JSON of *cls*) with its secrets masked; of a secret object only its secret fields."""
    known = members(cls)
    return {
        name: _masked(known[name].hint, value) if name in known else value for name, value in config.items()
    }


def kept(sent: Any, old: Any) -> Any:
    """*sent* with every text that is the mask of the *old* one at the same place replaced by that one."""
    if isinstance(sent, dict) and isinstance(old, dict):
        return {name: kept(value, old.get(name)) for name, value in sent.items()}
    if isinstance(sent, list) and isinstance(old, list):
        return [kept(value, before) for value, before in zip(sent, old, strict=False)] + sent[len(old) :]
    if isinstance(sent, str) and isinstance(old, str) and sent.startswith(_MASK) and sent == mask(old):
        return old
    return sent


def _masked(hint: Any, value: Any) -> Any:
    form = shape(hint)
    if form.mark(Secret) is None:
        return value
    record = form.record()
    return masked(record, value) if record and isinstance(value, dict) else _hidden(value)


def _hidden(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _hidden(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_hidden(part) for part in value]
    return mask(value) if isinstance(value, str) else value
