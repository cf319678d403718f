"""Resolves the type that a request names, once: its class, and the request's fields by their own names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from collector.platform.validation.shapes import members
from shared.kinds import KINDS, TYPES, UMBRELLA, WEB3, Kind, effective, subtype
from shared.kinds.web3.bridge import BridgeSide

# The first is another name of the second.
_CONTRACT_EVENT: Final = "contract_event"
_OF_CONTRACT_EVENTS: Final = "web3_contract_event"
_PLATFORM_ONLY: Final = "agent_metrics"
# Web3 only: aliases by field name, used if the field is missing, unless the alias is a field itself.
_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "address": ("walletAddress", "contractAddress"),
    "contract": ("contractAddress", "address"),
    "chain": ("chainId",),
    "chainId": ("chain",),
}
# Settings of all monitors that may be in the configuration too, where they take precedence.
_WITHIN: Final = {"http": ("timeout",), **dict.fromkeys(WEB3, ("interval", "timeout"))}


@dataclass(frozen=True, slots=True)
class RequestedKind:
    """The type of a request, resolved.

    *stored_as*: the monitor's type, as callers see it. *name*: the type of its checks, *cls*: of its
    configuration; for the type ``web3``, those of its subtype. *config*: the request's fields of *cls*;
    *within*: the monitor's settings beside them. *accepted*: names that the request may have at its top.
    """

    stored_as: str
    name: str
    cls: type[Kind]
    config: dict[str, Any]
    within: dict[str, Any]
    accepted: frozenset[str]


def requested(
    body: Mapping[str, Any], stored: tuple[str, Mapping[str, Any]] | None = None
) -> tuple[RequestedKind | None, dict[str, str]]:
    """Return the kind that *body* names, None for an unknown one, and the faults.

    *stored*: the type and the configuration of an existing monitor, whose type cannot change.
    """
    config = body.get("config")
    faults = {} if config is None or isinstance(config, dict) else {"config": "must be an object"}
    sent: Mapping[str, Any] = config if isinstance(config, dict) else {}
    named = body.get("subType") if sent.get("subType") is None else sent["subType"]
    sub_type = subtype(named)
    type_ = _type_of(body.get("type") if stored is None else body.get("type", stored[0]))
    name: Any = type_
    if stored is not None:
        if type_ != stored[0]:
            faults["type"] = f"cannot be changed; it is {stored[0]}"
        type_, name = stored[0], effective(*stored)
    elif type_ == UMBRELLA:
        if sub_type not in WEB3:
            faults["subType"] = (
                "Sub type is required" if named is None else f"must be one of {', '.join(WEB3)}"
            )
            return None, faults
        name = sub_type
    if not isinstance(name, str) or name not in KINDS:
        return None, {**faults, "type": _why_not(type_)}
    kind = _kind((type_, name), sub_type, body, sent)
    if stored is not None and name in WEB3 and kind.config["subType"] != name:
        faults["subType"] = f"cannot be changed; it is {name}"
        kind.config["subType"] = name
    return kind, faults


def shown_type(body: Mapping[str, Any]) -> str:
    """Return the type that *body* names, as faults repeat it."""
    return str(_type_of(body.get("type")))


def _type_of(named: Any) -> Any:
    """Return the normalized type; an unknown one stays as it is."""
    return _OF_CONTRACT_EVENTS if named == _CONTRACT_EVENT else named


def _kind(
    types: tuple[str, str], sub_type: Any, body: Mapping[str, Any], config: Mapping[str, Any]
) -> RequestedKind:
    """Take the type's fields from *config*, else from beside it in *body*; *types*: stored and of checks."""
    type_, name = types
    cls = KINDS[name]
    accepted, within = _accepted(name, cls), _WITHIN.get(name, ())
    beside = {field: body[field] for field in accepted if field in body and field not in within}
    if name in WEB3 and beside.get("url", "") is None:
        del beside["url"]  # lists show it as null for all types but http
    whole = {**beside, **config}
    settings = {field: whole.pop(field) for field in within if field in whole}
    own = _by_own_names(name, sub_type, whole) if name in WEB3 else whole
    return RequestedKind(type_, name, cls, own, settings, accepted)


def _accepted(name: str, cls: type[Kind]) -> frozenset[str]:
    known = frozenset(members(cls))
    if name not in WEB3:
        return known
    return known.union(*(_ALIASES.get(field, ()) for field in known))


def _by_own_names(name: str, sub_type: Any, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Web3 configuration with its fields' own names and its subtype, by default its type's."""
    own = _renamed(members(KINDS[name]), config)
    own["subType"] = name if own.get("subType") is None else sub_type
    for side in ("source", "destination"):
        if name == "bridge" and isinstance(own.get(side), Mapping):
            own[side] = _renamed(members(BridgeSide), own[side])
    return own


def _renamed(known: Iterable[str], config: Mapping[str, Any]) -> dict[str, Any]:
    """Rename the first alias with a value; other aliases stay and are reported as unknown."""
    own, fields = dict(config), set(known)
    for name in fields & _ALIASES.keys():
        others = (other for other in _ALIASES[name] if other in own and other not in fields)
        if name not in own and (other := next(others, None)) is not None:
            own[name] = own.pop(other)
    return own


def _why_not(type_: Any) -> str:
    if type_ is None:
        return "Type is required"
    if type_ == _PLATFORM_ONLY:
        return "is made by the platform only"
    return f"must be one of {', '.join(TYPES)}"
