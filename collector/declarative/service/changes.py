"""The changes of a plan, field by field: keys instead of ids, and no secrets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from collector.declarative.answers import Section
from collector.declarative.service.shape import Body

SECRET = "(secret)"  # noqa: S105 - a placeholder
_MASK = "********"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """*old* and *new* are JSON, with secrets masked."""

    name: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A change of one resource; *fields*: of an update."""

    action: Literal["create", "update", "delete"]
    section: Section
    key: str
    fields: Sequence[FieldChange] = ()


@dataclass(slots=True)
class ApplyOutcome:
    """*taken_over*: keys of resources created by hand; *left*: of resources that are no longer declared."""

    changes: list[PlannedChange] = field(default_factory=list)
    unchanged: int = 0
    taken_over: list[tuple[Section, str]] = field(default_factory=list)
    left: list[tuple[Section, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def fields(before: Body, after: Body, shown: tuple[Body, Body]) -> Iterator[FieldChange]:
    """Yield the fields that differ in *after*; *shown*: both with their secrets masked."""
    yield from _fields("", before, after, *shown)


def swapped(value: Any, names: Mapping[str, str]) -> Any:
    """Return *value* with every text that is in *names* replaced."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, Mapping):
        return {key: swapped(one, names) for key, one in value.items()}
    return [swapped(item, names) for item in value] if isinstance(value, list) else value


def plain(value: Any) -> Any:
    """Return a masked value as plans show it."""
    if isinstance(value, str) and value.startswith(_MASK):
        return SECRET
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def _fields(path: str, before: Any, after: Any, old: Any, new: Any) -> Iterator[FieldChange]:
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in [*before, *(name for name in after if name not in before)]:
            yield from _fields(
                f"{path}.{name}" if path else name,
                before.get(name),
                after.get(name),
                old.get(name),
                new.get(name),
            )
    elif _named(before) and _named(after):
        whole = [_by_name(item) for item in (before, after, old, new)]
        yield from _fields(path, *whole)
        if not any(_fields(path, *whole)):
            yield FieldChange(f"{path} in order", list(whole[0]), list(whole[1]))
    else:
        yield FieldChange(path, plain(old), plain(new))


def _named(value: Any) -> bool:
    """Whether it is a list of objects with distinct names."""
    return (
        isinstance(value, list)
        and all(isinstance(item, Mapping) and "name" in item for item in value)
        and len({item["name"] for item in value}) == len(value)
    )


def _by_name(value: Sequence[Body]) -> dict[str, Body]:
    return {item["name"]: item for item in value}
