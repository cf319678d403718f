"""Responses of the API about configuration as code."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from collector.platform.answers import Example, Warnings

Section = Literal["channels", "monitors", "rules", "maintenanceWindows", "statusPages"]
Key = Annotated[str, Example("shop")]
Resource = Annotated[str, Example("monitor")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedField:
    """A field that an apply changes."""

    name: Annotated[str, Example("interval")]
    """Name of the field."""
    old: Any
    """Value before; null for a secret, and of what is created."""
    new: Any
    """Value after; null for a secret, and of what is deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredChange:
    """A resource that an apply changes."""

    action: Literal["create", "update", "delete"]
    """What is done."""
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
    """What an apply has changed, or would change."""

    plan: Annotated[bool, Example(False)]
    """Whether nothing was changed."""
    changes: list[DeclaredChange]
    """Resources that change, in their order."""
    unchanged: Annotated[int, Example(12)]
    """Number of resources that stay as they are."""
    taken_over: list[DeclaredKey]
    """Resources that were made by hand, or belonged to another set of files."""
    left: list[DeclaredKey]
    """Resources of this set that are no longer declared, and stay without `prune`."""
    warnings: Warnings = None
    """What was ignored of the request."""
