"""Parses and validates the body of a request about an alert rule."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

from collector.alerts.answers import RuleAnswer
from collector.alerts.core.rule_fields import Conditions, RuleSettings
from collector.platform import references
from collector.platform.answer_json import read_only
from collector.platform.monitor import merge
from collector.platform.validation.shapes import members
from collector.platform.validation.validation import read
from shared.errors import Invalid
from shared.kinds.fields import camel

# Fields that a GET shows and that no caller can set.
_READ_ONLY = read_only(RuleAnswer, RuleSettings)
_MERGED = ("conditions", "escalationPolicy")


@dataclass(frozen=True, slots=True)
class RuleRequest:
    """A parsed body; *rule* is set unless there are *faults*.

    *monitors* and *channels* are those that it names, by the keys that their faults would have.
    """

    rule: RuleSettings | None
    monitors: dict[str, UUID]
    channels: dict[str, UUID]
    faults: dict[str, str]
    unknown: list[str]

    def checked(self, more: Mapping[str, str]) -> RuleSettings:
        """Return the rule. Raises Invalid with all faults, including *more*."""
        faults = {**self.faults, **more}
        if faults or self.rule is None:
            raise Invalid(faults)
        return self.rule


def for_create(body: Mapping[str, Any]) -> RuleRequest:
    """Parse a new rule; defaults fill missing fields."""
    return _read(body, _sent(body))


def for_update(body: Mapping[str, Any], shown: Mapping[str, Any]) -> RuleRequest:
    """Parse the changed rule: fields that are sent replace, objects merge, null in them removes."""
    sent = _sent(body)
    whole = {name: value for name, value in shown.items() if value is not None} | sent
    for name in _MERGED:
        if isinstance(sent.get(name), Mapping):
            before = shown.get(name)
            whole[name] = merge(before if isinstance(before, Mapping) else {}, sent[name])
    return _read(body, whole)


def conditions_of(stored: Mapping[str, Any]) -> Conditions:
    """Return conditions from the table, without fields that a later version may have added."""
    known = {camel(field.name): field.name for field in fields(Conditions)}
    return Conditions(**{known[name]: value for name, value in stored.items() if name in known})


def _sent(body: Mapping[str, Any]) -> dict[str, Any]:
    sent = {name: body[name] for name in members(RuleSettings) if name in body}
    beside = {name: body[name] for name in members(Conditions) if name in body and name not in sent}
    conditions = sent.get("conditions")
    if beside and (conditions is None or isinstance(conditions, Mapping)):
        sent["conditions"] = {**beside, **(conditions or {})}
    return sent


def _read(body: Mapping[str, Any], values: Mapping[str, Any]) -> RuleRequest:
    known = {*members(RuleSettings), *members(Conditions), *_READ_ONLY}
    unknown = [name for name in body if name not in known]
    found = read(RuleSettings, values)
    policy = values.get("escalationPolicy")
    escalates_to = policy.get("escalateToChannels") if isinstance(policy, Mapping) else None
    channels = {
        **references.many("chan", "channels", values.get("channels")),
        **references.many("chan", "escalationPolicy.escalateToChannels", escalates_to),
    }
    monitors = references.many("mon", "monitors", values.get("monitors"))
    return RuleRequest(found.value, monitors, channels, found.faults, [*unknown, *found.unknown])
