"""Parses and validates the body of a request about a channel: common fields and those of its type."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from annotated_types import MaxLen, MinLen, Predicate

from collector.notifications.answers import ChannelDetails
from collector.notifications.channels import CHANNELS, Channel, apprise
from collector.platform import references
from collector.platform.answer_json import read_only
from collector.platform.masks import kept
from collector.platform.monitor import has_ink, merge
from collector.platform.validation.shapes import members
from collector.platform.validation.validation import read, to_json
from shared.errors import Invalid
from shared.kinds.fields import ErrorText


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSettings:
    """The settings that every type of channel has."""

    name: Annotated[str, MinLen(1), MaxLen(255), Predicate(has_ink), ErrorText("must not be blank")]
    """Name of the channel, 1 to 255 characters."""
    enabled: bool = True
    """Whether anything is sent through the channel."""


# Fields that a GET shows and that no caller can set.
_READ_ONLY = read_only(ChannelDetails, ChannelSettings)


@dataclass(frozen=True, slots=True)
class ChannelRequest:
    """A parsed request body; *settings* and *config* are set if there are no *faults*.

    *monitors*: the monitor ids in the body, by the field names under which errors about them are reported.
    """

    settings: ChannelSettings | None
    config: Channel | None
    monitors: dict[str, UUID]
    faults: dict[str, str]
    unknown: list[str]

    def checked(self, more: Mapping[str, str]) -> tuple[ChannelSettings, Channel]:
        """Return the settings and the configuration. Raises Invalid with all errors, including *more*."""
        faults = {**self.faults, **more}
        if faults or self.settings is None or self.config is None:
            raise Invalid(faults)
        return self.settings, self.config


def for_create(body: Mapping[str, Any]) -> ChannelRequest:
    """Parse a new channel, with all defaults filled in."""
    type_ = body.get("type")
    config, unknown, faults = _configuration(type_, body)
    if not isinstance(type_, str) or type_ not in CHANNELS:
        faults["type"] = _why_not(type_)
    elif type_ == "apprise" and not apprise.is_installed():
        faults["type"] = f"apprise {apprise.MISSING}"
    return _read(type_, _settings(body), config, unknown, faults)


def for_update(
    body: Mapping[str, Any], type_: str, settings: ChannelSettings, config: Mapping[str, Any]
) -> ChannelRequest:
    """Parse an update: sent fields replace stored ones, *config* (complete, with secrets) is merged."""
    patch, unknown, faults = _configuration(type_, body)
    if body.get("type", type_) != type_:
        faults["type"] = f"cannot be changed; it is {type_}"
    return _read(
        type_, {**to_json(settings), **_settings(body)}, merge(config, kept(patch, config)), unknown, faults
    )


def named_monitors(config: Mapping[str, Any]) -> dict[str, UUID]:
    """The monitor ids in a configuration, by the field names under which errors about them are reported."""
    return references.many("mon", "monitors", config.get("monitors"))


def _settings(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: body[name] for name in members(ChannelSettings) if name in body}


def _configuration(type_: Any, body: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], dict[str, str]]:
    """The type's fields (`config` wins over the top level), the unknown fields, and the errors."""
    config = body.get("config")
    faults = {} if config is None or isinstance(config, dict) else {"config": "must be an object"}
    config = config if isinstance(config, dict) else {}
    cls = CHANNELS.get(type_) if isinstance(type_, str) else None
    if cls is None:
        return config, [], faults
    own = members(cls)
    known = {*own, *members(ChannelSettings), *_READ_ONLY, "type", "config"}
    unknown = [name for name in body if name not in known]
    unknown += [f"config.{name}" for name in config if name not in own]
    beside = {name: body[name] for name in own if name in body}
    return {**beside, **config}, unknown, faults


def _read(
    type_: Any,
    settings: dict[str, Any],
    config: Mapping[str, Any],
    unknown: list[str],
    faults: dict[str, str],
) -> ChannelRequest:
    own = read(ChannelSettings, settings)
    faults = {**own.faults, **faults}
    if not isinstance(type_, str) or type_ not in CHANNELS:
        return ChannelRequest(own.value, None, {}, faults, unknown)
    kind = read(CHANNELS[type_], config)
    return ChannelRequest(own.value, kind.value, named_monitors(config), {**kind.faults, **faults}, unknown)


def _why_not(type_: Any) -> str:
    if type_ is None:
        return "Type is required"
    return f"must be one of {', '.join(CHANNELS)}"
