"""The context of services: what a transaction works with besides its arguments."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from collector.events.storage.events import Event
from collector.platform.access import Actor
from collector.platform.bucket import TeamPlan
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage.db import Db


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """The context of an action; *min_interval* is in seconds; *who* None is the service itself.

    *db* may be a `UnitOfWork`, in which the action's transaction is a part of another. *nodes*: URLs of the
    deployment's Web3 nodes by chain id. *plan*: the team's limits. *later*: collects events of changes for
    the owner of an outer transaction, since the first append blocks all other appends of the team.
    """

    db: Db
    keyring: Keyring
    signals: Signals
    min_interval: int
    who: Actor | None = None
    nodes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    plan: TeamPlan | None = None
    later: list[Event] | None = None
