"""The interface of a kind of declarable resource; bodies are those of the API."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from typing import Any, NoReturn, Protocol, TypeAlias
from uuid import UUID

from collector.declarative.answers import Section
from collector.monitors.service.fields import MonitorRequest
from collector.platform.access import Actor
from collector.platform.context import ServiceContext
from collector.platform.monitor import MonitorSettings
from collector.platform.storage.db import Tx
from collector.platform.validation.shapes import members, shape
from collector.platform.validation.validation import to_json
from collector.status_pages.service.domains import ServiceNames
from shared.kinds.fields import camel

Body: TypeAlias = Mapping[str, Any]
NOT_DECLARED = "is not declared: it belongs to what happens, not to what is set"


@dataclass(frozen=True, slots=True)
class ApplyContext:
    """*means*: the services' context, with database and actor; *own*: the names of the service itself.

    *forgotten* collects the numbers of monitors whose results must be deleted.
    """

    means: ServiceContext
    who: Actor
    own: ServiceNames
    now: datetime
    forgotten: list[int] = field(default_factory=list)

    @property
    def team_id(self) -> int:
        return self.who.team_id


@dataclass(slots=True)
class ExistingResource:
    """An existing resource; *parts*: the ids of its components, in order.

    *make_body* is called if its body is needed: most of a team's resources are not declared in a request. It
    is `not_loaded` of one whose kind has `Sort.load`, until that was called.
    *sayable*: whether a file with the body would mean the same.
    """

    id: UUID
    name: str
    make_body: Callable[[], dict[str, Any]]
    parts: Sequence[UUID] = ()
    sayable: bool = True
    _body: dict[str, Any] | None = None

    @property
    def body(self) -> dict[str, Any]:
        if self._body is None:
            self._body = self.make_body()
        return self._body


@dataclass(frozen=True, slots=True)
class ParsedItem:
    """*whole*: the body with every default, None exactly when there are *faults*.

    *monitor*: the request of a monitor, if it is one.
    """

    whole: dict[str, Any] | None
    faults: dict[str, str] = field(default_factory=dict)
    monitor: MonitorRequest[MonitorSettings] | None = None


class CheckedRequest(Protocol):
    """A body as the API's own validation returns it."""

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
    """*refers*: where a body has ids of other resources, and of which section; ``[]``: each entry of a list.

    *create* is None for monitors, which are created together. *load* reads the bodies of some that *present*
    returned without, and returns those that still exist. *hidden*: a whole body with its secrets masked,
    *spare*: without defaults.
    """

    noun: str
    prefix: str
    refers: Mapping[tuple[str, ...], Section]
    present: Callable[[ApplyContext, Tx], Awaitable[list[ExistingResource]]]
    read: Callable[[ApplyContext, Body, ExistingResource | None], Awaitable[ParsedItem]]
    create: Callable[[ApplyContext, Body], Awaitable[CreatedItem]] | None
    update: Callable[[ApplyContext, ExistingResource, Body], Awaitable[Sequence[str]]]
    delete: Callable[[ApplyContext, UUID], Awaitable[None]]
    hidden: Callable[[Body], dict[str, Any]]
    spare: Callable[[Body], dict[str, Any]]
    load: (
        Callable[[ApplyContext, Tx, Sequence[ExistingResource]], Awaitable[list[ExistingResource]]] | None
    ) = None


def not_loaded() -> NoReturn:
    """Stand for a body that only `Sort.load` reads. Raises LookupError."""
    raise LookupError("the body of this resource was not loaded")


def not_declared(body: Body, names: frozenset[str]) -> dict[str, str]:
    """Return a fault for each of these fields that is present."""
    return {name: NOT_DECLARED for name in names if name in body}


def faults_of(item: Body, shown: frozenset[str], request: CheckedRequest) -> dict[str, str]:
    """Return all faults of *item*, parsed as *request*; *shown*: fields that a GET shows and no file can set.

    An unknown field is a fault too: a misspelt one would be ignored silently.
    """
    unknown = dict.fromkeys(request.unknown, "there is no such field")
    return {**not_declared(item, shown), **unknown, **request.faults}


def another_type(before: ExistingResource | None, type_: Any, noun: str) -> dict[str, str]:
    """Return a fault if the type differs from that of the key's existing resource."""
    if before is None or type_ == before.body["type"]:
        return {}
    return {"type": f"cannot be changed; it is {before.body['type']}. Another key makes another {noun}"}


def different(before: Body, after: Body) -> dict[str, Any]:
    """Return the fields of *after* that differ in *before*."""
    return {name: value for name, value in after.items() if before.get(name) != value}


def patch(before: Any, after: Any) -> Any:
    """Return the merge patch (RFC 7396) that turns *before* into *after*."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return after
    gone = {name: None for name in before if name not in after}
    return gone | {name: patch(before.get(name), value) for name, value in after.items()}


def spare(cls: Any, value: Body) -> dict[str, Any]:
    """Return *value* (JSON of *cls*) without its defaults."""
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
    return value if items is None else [_spared(items, item) for item in value]


def _usual(cls: Any) -> dict[str, Any]:
    found = {}
    for part in fields(cls):
        if part.default is not MISSING:
            found[camel(part.name)] = part.default
        elif part.default_factory is not MISSING:
            made = part.default_factory()
            found[camel(part.name)] = to_json(made) if hasattr(made, "__dataclass_fields__") else made
    return found
