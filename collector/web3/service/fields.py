"""Aliases in requests about Web3 monitors: subtypes, and alternative names of fields."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from collector.platform.validation.shapes import members
from shared.kinds import KINDS, UMBRELLA, WEB3, subtype
from shared.kinds.web3.bridge import Side

_CONTRACT_EVENT: Final = "contract_event"
# Aliases by field name, used if the field is missing, unless the alias is a field itself.
_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "address": ("walletAddress", "contractAddress"),
    "contract": ("contractAddress", "address"),
    "chain": ("chainId",),
    "chainId": ("chain",),
}


def type_of(said: Any) -> Any:
    """A monitor's normalized type; an unknown one stays as it is."""
    return subtype(said) if said == _CONTRACT_EVENT else said


def kind_of(type_: Any, body: Mapping[str, Any], config: Mapping[str, Any]) -> tuple[Any, dict[str, str]]:
    """The effective type that *body* and its *config* request, and errors of its subtype."""
    if type_ != UMBRELLA:
        return type_, {}
    said = body.get("subType") if config.get("subType") is None else config["subType"]
    if said is None:
        return None, {"subType": "Sub type is required"}
    if (named := subtype(said)) not in WEB3:
        return None, {"subType": f"must be one of {', '.join(WEB3)}"}
    return named, {}


def names(kind: str) -> set[str]:
    """All accepted names of a configuration's fields."""
    known = set(members(KINDS[kind]))
    if kind not in WEB3:
        return known
    return known | {other for name in known for other in _ALIASES.get(name, ())}


def as_kept(kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """*config* with the kind's own field names and its subtype; other kinds stay as they are."""
    if kind not in WEB3:
        return dict(config)
    own = _renamed(members(KINDS[kind]), config)
    own["subType"] = kind if own.get("subType") is None else subtype(own["subType"])
    for side in ("source", "destination"):
        if kind == "bridge" and isinstance(own.get(side), Mapping):
            own[side] = _renamed(members(Side), own[side])
    return own


def _renamed(known: Iterable[str], config: Mapping[str, Any]) -> dict[str, Any]:
    """Rename the first alias with a value; other aliases stay and are reported as unknown."""
    own, fields = dict(config), set(known)
    for name in fields & _ALIASES.keys():
        others = (other for other in _ALIASES[name] if other in own and other not in fields)
        if name not in own and (other := next(others, None)) is not None:
            own[name] = own.pop(other)
    return own
