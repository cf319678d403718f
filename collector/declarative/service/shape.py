"""The interface of a kind of declarable resource; bodies are those of the API."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from typing import Any, Protocol, TypeAlias
from uuid import UUID

from collector.monitors.service.monitors import ServiceContext
from collector.platform.access import Actor
from collector.platform.storage.db import Tx
from collector.platform.validation.shapes import members, shape
from collector.platform.validation.validation import to_json
from collector.status_pages.service.domains import Own
from shared.kinds.fields import camel

Body: TypeAlias = Mapping[str, Any]
NOT_DECLARED = "is not declared: it belongs to what happens, not to what is set"


@dataclass(frozen=True, slots=True)
class ApplyContext:
    """*means* has the database and who asks; *own*: the names of the service itself.

    *forgotten* collects the numbers of monitors whose results are to go.
    """

    means: ServiceContext
    who: Actor
    own: Own
    now: datetime
    forgotten: list[int] = field(default_factory=list)

    @property
    def team_id(self) -> int:
        return self.who.team_id


@dataclass(frozen=True, slots=True)
class Present:
    """One that is there; *parts*: the ids of what stands on it, in its order.

    *sayable*: would a file that says *body* mean the same?
    """

    id: UUID
    name: str
    body: dict[str, Any]
    parts: Sequence[UUID] = ()
    sayable: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """*whole* is None exactly when there are *faults*: the body with every default filled in."""

    whole: dict[str, Any] | None
    faults: dict[str, str] = field(default_factory=dict)


class CheckedRequest(Protocol):
    """What the API's own validation made of a body."""

    @property
    def unknown(self) -> Sequence[str]: ...

    @property
    def faults(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True)
class CreatedItem:
    id: UUID
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    """*refers*: where ids of others stand, and of which section they are; ``[]`` is each entry of a list.

    *hidden* is a whole body with its secrets masked, *spare* what differs from the defaults.
    """

    noun: str
    prefix: str
    refers: Mapping[tuple[str, ...], str]
    present: Callable[[ApplyContext, Tx], Awaitable[list[Present]]]
    read: Callable[[ApplyContext, Body, Present | None], Awaitable[Reading]]
    create: Callable[[ApplyContext, Body], Awaitable[CreatedItem]]
    update: Callable[[ApplyContext, Present, Body], Awaitable[Sequence[str]]]
    delete: Callable[[ApplyContext, UUID], Awaitable[None]]
    hidden: Callable[[Body], dict[str, Any]]
    spare: Callable[[Body], dict[str, Any]]


def not_declared(body: Body, names: frozenset[str]) -> dict[str, str]:
    """A fault for each of those fields that is said."""
    return {name: NOT_DECLARED for name in names if name in body}


def faults_of(item: Body, shown: frozenset[str], wish: CheckedRequest) -> dict[str, str]:
    """All of *item*, read as *wish*, that cannot be; *shown*: what a GET shows and no file sets.

    A field that nobody knows is one, too: a misspelt one would be lost without a word.
    """
    unknown = dict.fromkeys(wish.unknown, "there is no such field")
    return {**not_declared(item, shown), **unknown, **wish.faults}


def another_type(before: Present | None, type_: Any, noun: str) -> dict[str, str]:
    """The fault of one that is of another type than what stands behind its key."""
    if before is None or type_ == before.body["type"]:
        return {}
    return {"type": f"cannot be changed; it is {before.body['type']}. Another key makes another {noun}"}


def different(before: Body, after: Body) -> dict[str, Any]:
    """The fields of *after* that are not so in *before*."""
    return {name: value for name, value in after.items() if before.get(name) != value}


def patch(before: Any, after: Any) -> Any:
    """The merge patch (RFC 7396) that makes *after* of *before*."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return after
    gone = {name: None for name in before if name not in after}
    return gone | {name: patch(before.get(name), value) for name, value in after.items()}


def spare(cls: Any, value: Body) -> dict[str, Any]:
    """What of *value* (JSON of *cls*) is not as it would be if nobody said it."""
    usual, known = _usual(cls), members(cls)
    return {
        name: _spared(known[name].hint, part) if name in known else part
        for name, part in value.items()
        if name not in usual or usual[name] != part
    }


def _spared(hint: Any, value: Any) -> Any:
    form = shape(hint)
    if isinstance(value, Mapping) and (record := form.record()):
        return spare(record, value)
    items = form.items() if isinstance(value, list) else None
    return value if items is None else [_spared(items, one) for one in value]


def _usual(cls: Any) -> dict[str, Any]:
    found = {}
    for one in fields(cls):
        if one.default is not MISSING:
            found[camel(one.name)] = one.default
        elif one.default_factory is not MISSING:
            made = one.default_factory()
            found[camel(one.name)] = to_json(made) if hasattr(made, "__dataclass_fields__") else made
    return found
