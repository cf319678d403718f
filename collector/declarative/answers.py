"""Responses of the API about configuration as code."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from collector.platform.answers import Example, Warnings

Section = Literal["channels", "monitors", "rules", "maintenanceWindows", "statusPages", "incidentTemplates"]
Key = Annotated[str, Example("shop")]
Resource = Annotated[str, Example("monitor")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedField:
    """A field that an apply changes."""

    name: Annotated[str, Example("interval")]
    """Name of the field."""
    old: Any
    """Value before; null for a secret, and if the resource is created."""
    new: Any
    """Value after; null for a secret, and if the resource is deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredChange:
    """A resource that an apply changes."""

    action: Literal["create", "update", "delete"]
    """The action on the resource."""
    section: Section
    """Section of the files that declares it."""
    resource: Resource
    """Kind of resource."""
    key: Key
    """Key of the resource."""
    fields: list[ChangedField]
    """Fields that change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredKey:
    """A resource that files declare."""

    section: Section
    """Section of the files that declares it."""
    resource: Resource
    """Kind of resource."""
    key: Key
    """Key of the resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedConfiguration:
    """The changes that an apply has made, or would make."""

    plan: Annotated[bool, Example(False)]
    """Whether this was only a plan: nothing was changed."""
    changes: list[DeclaredChange]
    """Changes of resources, in their order."""
    unchanged: Annotated[int, Example(12)]
    """Number of unchanged resources."""
    taken_over: list[DeclaredKey]
    """Resources that were created by hand, or belonged to another set of files."""
    left: list[DeclaredKey]
    """Resources of this set that are no longer declared, and stay without `prune`."""
    warnings: Warnings = None
    """What was ignored of the request."""
