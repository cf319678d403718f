"""Converts a monitor's settings to its row and back."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final
from uuid import UUID

from collector.monitors.service import fields as monitor_fields
from collector.monitors.service import receivers
from collector.monitors.storage.monitors import Monitor
from collector.platform import audit
from collector.platform.masks import open_parts
from collector.platform.monitor import DEFAULT_LOCATION, MonitorSettings
from collector.platform.seal import Keyring, SealScope, split, whole
from shared import ids
from shared.kinds import KINDS, Kind, effective, secret_fields
from shared.kinds.fields import camel

_SETTINGS: Final = fields(MonitorSettings)
# The columns that are named otherwise than their settings.
_COLUMNS: Final[Mapping[str, str]] = {"interval": "interval_s", "timeout": "timeout_s", "group": "group_name"}
_CALLED: Final = {column: name for name, column in _COLUMNS.items()}


def whole_config(keyring: Keyring, monitor: Monitor) -> dict[str, Any]:
    """Return the configuration with its secrets, in the order of its kind's fields."""
    config = whole(keyring, monitor.config, monitor.secrets, sealed_at(monitor.team_id, monitor.id))
    names = (camel(field.name) for field in fields(KINDS[effective(monitor.type, config)]))
    return {name: config[name] for name in names if name in config}


def settings_of(monitor: Monitor) -> MonitorSettings:
    """Return a row as the fields that a caller sets."""
    plain = {field.name: getattr(monitor, _COLUMNS.get(field.name, field.name)) for field in _SETTINGS}
    quorum = int(monitor.quorum) if monitor.quorum.isdigit() else monitor.quorum
    parents = [ids.show("mon", parent) for parent in monitor.depends_on]
    return MonitorSettings(**{**plain, "quorum": quorum, "depends_on": parents})


def kind_name(kind: Kind) -> str:
    """Return the type of a configuration."""
    return next(name for name, cls in KINDS.items() if cls is type(kind))


def columns(
    keyring: Keyring, key: tuple[int, UUID], settings: MonitorSettings, kind: Kind, usual: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the columns of a monitor to write.

    *key*: its team and its id; *usual*: its locations if the settings name none, by default DEFAULT_LOCATION.
    """
    config, secrets = split_config(keyring, key, type(kind), monitor_fields.stored(kind))
    wanted = (usual or [DEFAULT_LOCATION]) if settings.locations is None else settings.locations
    parents = (ids.read("mon", text) for text in settings.depends_on)
    return {
        **{_COLUMNS.get(field.name, field.name): getattr(settings, field.name) for field in _SETTINGS},
        "config": config,
        "secrets": secrets,
        "locations": list(dict.fromkeys(wanted)),
        "quorum": str(settings.quorum),
        "depends_on": list(dict.fromkeys(parent for parent in parents if parent)),
        **receivers.settled(kind),
    }


def split_config(
    keyring: Keyring, key: tuple[int, UUID], cls: type[Kind], stored: Mapping[str, Any]
) -> tuple[dict[str, Any], bytes | None]:
    """Split a configuration of *cls* into its readable part, and its secrets, sealed."""
    opened, scope = open_parts(cls, stored), sealed_at(*key)
    config, secrets = split(keyring, stored, secret_fields(cls) | opened.keys(), scope)
    return {**config, **opened}, secrets


def changed(before: Monitor, written: Mapping[str, Any], *, same_config: bool) -> set[str]:
    """Return changed columns; a seal differs each time, so the configuration is compared as a whole."""
    plain = {name for name in written if name not in {"config", "secrets"}}
    names = {name for name in plain if getattr(before, name) != written[name]}
    return names if same_config else names | {"config"}


def named_fields(named: Collection[str], before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the API's names of changed columns, and the changed fields of the configuration."""
    plain = [_CALLED.get(name) or camel(name) for name in named if name != "config"]
    return plain + audit.differing(before, after, "config.")


def sealed_at(team_id: int, id_: UUID) -> SealScope:
    """Return the scope of a monitor's sealed secrets."""
    return SealScope(team_id, "monitors", id_, "secrets")
