"""OpenZeppelin Monitor: networks, monitors and triggers of its configuration folder."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from collector.importers.core.channels import ChannelSettings, email, webhook_method
from collector.importers.core.draft import Body, Draft, NotCarried, WrongSource, variable
from collector.importers.core.report import PAUSED, Origin
from collector.importers.core.values import (
    drop_empty,
    elements,
    key,
    mapping,
    number,
    objects,
    text,
    whole,
)
from shared.kinds.web3.abi import event_of

SYSTEM: Final = "openzeppelin"

Item = Mapping[str, Any]

_DEFAULT_S: Final = 60
_MOST_NODES: Final = 10
# Of seconds, minutes and hours; the other fields are every day's.
_EVERY: Final = (
    (re.compile(r"\*/(\d{1,2}) \* \* \* \* \*"), 1),
    (re.compile(r"\d{1,2} \*/(\d{1,2}) \* \* \* \*"), 60),
    (re.compile(r"\d{1,2} \d{1,2} \*/(\d{1,2}) \* \* \*"), 3_600),
)
_EVERY_MINUTE: Final = re.compile(r"\d{1,2} \* \* \* \* \*")
_AND: Final = re.compile(r"\s+AND\s+", re.IGNORECASE)
_EQUALS: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*==\s*(\"[^\"]*\"|'[^']*'|[A-Za-z0-9_.-]+)")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


@dataclass(frozen=True, slots=True)
class _Network:
    """*settings*: what each monitor on it has in its configuration."""

    name: str
    interval_s: int
    settings: Body


def draft(document: Any) -> Draft:
    """Return the file's contents and the report. Raises WrongSource if it has no monitors.

    *document*: `networks` and `monitors`, each the objects of their files, and `triggers` by their ids.
    """
    given = mapping(document)
    if not isinstance(given.get("monitors"), list):
        raise WrongSource("is no configuration of OpenZeppelin Monitor: it has no monitors")
    made = Draft(SYSTEM)
    made.report.say("each event notifies once, as there; a monitor is also down while no node answers")
    made.report.say("messages of triggers are not carried: channels have their own, with the event in it")
    networks = dict(_networks(made, objects(given.get("networks"))))
    channels = _add_triggers(made, mapping(given.get("triggers")))
    for monitor in objects(given["monitors"]):
        _add_monitor(made, monitor, networks, channels)
    return made


def _networks(made: Draft, listed: list[dict[str, Any]]) -> Iterator[tuple[str, _Network]]:
    for item in listed:
        slug = text(item.get("slug"))
        name, type_ = text(item.get("name")) or slug, text(item.get("network_type"))
        origin, reasons = Origin("network", name, f"network {slug}"), list[str]()
        if type_ != "EVM":
            made.report.leave_out(origin, f"networks of type {type_ or 'none'} have no counterpart")
            continue
        nodes = [node for node in objects(item.get("rpc_urls")) if text(node.get("type_")) in {"", "rpc"}]
        nodes.sort(key=lambda node: -(number(node.get("weight")) or 0))
        urls = [_secret(made, node.get("url"), reasons, slug, "rpc_url") for node in nodes[:_MOST_NODES]]
        if len(nodes) > _MOST_NODES:
            reasons.append(f"only the {_MOST_NODES} nodes with the most weight are carried, of {len(nodes)}")
        settings = drop_empty(
            {
                "chainId": whole(item.get("chain_id")),
                "confirmations": whole(item.get("confirmation_blocks")),
                "rpcUrl": urls if len(urls) > 1 else "".join(urls),
            }
        )
        every = _interval(text(item.get("cron_schedule")), reasons)
        made.report.add(origin, reasons)
        yield slug, _Network(name, every, settings)


def _interval(schedule: str, reasons: list[str]) -> int:
    """Return the interval in seconds of a schedule of six fields, of which seconds are the first."""
    if _EVERY_MINUTE.fullmatch(schedule):
        return 60
    for pattern, unit_s in _EVERY:
        match = pattern.fullmatch(schedule)
        if match and int(match[1]):
            return int(match[1]) * unit_s
    if schedule:
        reasons.append(f"its schedule {schedule} is no plain interval: {_DEFAULT_S} s is taken")
    return _DEFAULT_S


def _secret(made: Draft, given: Any, reasons: list[str], *names: str) -> str:
    """Return a variable for a value: one that stands there, is in the environment, or in a vault."""
    if not isinstance(given, dict):
        return made.secret(text(given), *names) if given else ""
    type_, value = text(given.get("type")).lower(), text(given.get("value"))
    if type_ == "plain":
        return made.secret(value, *names)
    if type_ == "environment" and _VARIABLE.fullmatch(value):
        return variable(value)
    reasons.append(f"its {names[-1].replace('_', ' ')} is in a vault: set the variable")
    return made.secret("", *names)


def _add_monitor(
    made: Draft, monitor: Item, networks: Mapping[str, _Network], channels: Mapping[str, str]
) -> None:
    name = text(monitor.get("name")) or "Monitor"
    wanted = mapping(monitor.get("match_conditions"))
    place = f"monitor {name}"
    origin, reasons = Origin("monitor", name, place), list[str]()
    if fault := _unlike(monitor, wanted):
        made.report.leave_out(origin, fault)
        return
    for part in objects(wanted.get("functions")):
        called = text(part.get("signature"))
        made.report.leave_out(Origin("function", called, place), "calls of functions have no counterpart")
    if monitor.get("paused") is True:
        reasons.append(PAUSED)
    triggers = [text(item) for item in elements(monitor.get("triggers"))]
    reasons += [f"its trigger {item} is not carried" for item in triggers if item not in channels]
    notified = [channels[item] for item in triggers if item in channels]
    slugs = [text(item) for item in elements(monitor.get("networks"))]
    for event, address, slug in product(
        objects(wanted.get("events")), objects(monitor.get("addresses")), slugs
    ):
        signature = text(event.get("signature"))
        origin = Origin("event", f"{name}: {signature}", f"{place} on {slug}")
        try:
            body = _body(event, address, networks.get(slug), name)
        except NotCarried as error:
            made.report.leave_out(origin, str(error))
            continue
        called = key("oz", name, signature.partition("(")[0], text(address.get("address")), slug)
        made.notify(made.add("monitors", origin, called, body, reasons), notified)


def _unlike(monitor: Item, wanted: Item) -> str:
    """Return why no event of a monitor can be carried, or an empty text."""
    if not objects(wanted.get("events")):
        return "watches no events: functions and transactions have no counterpart"
    if objects(monitor.get("trigger_conditions")):
        return "has scripts that choose among its events, which have no counterpart: it would notify more"
    if not objects(monitor.get("addresses")) or not elements(monitor.get("networks")):
        return "has no addresses or no networks"
    for item in objects(wanted.get("transactions")):
        if text(item.get("expression")) or text(item.get("status")) == "Failure":
            return "has conditions on transactions, which have no counterpart: it would notify more"
    return ""


def _body(event: Item, address: Item, network: _Network | None, name: str) -> Body:
    """Return a monitor of one event at one address. Raises NotCarried if it cannot be watched alike."""
    if network is None:
        raise NotCarried("its network is not carried")
    if address.get("contract_spec") is None:
        raise NotCarried("has no ABI, so that it is not known which arguments are indexed")
    signature = text(event.get("signature"))
    entry = _entry(objects(address.get("contract_spec")), signature)
    called = signature.partition("(")[0].strip()
    config: Body = {
        **network.settings,
        "subType": "web3_contract_event",
        "address": text(address.get("address")),
        "abi": [entry],
        "eventName": called,
        "filters": _filters(text(event.get("expression"))),
    }
    return {
        "name": f"{name}: {called} on {network.name}",
        "type": "web3",
        "interval": network.interval_s,
        "group": name,
        "config": drop_empty(config),
    }


def _entry(spec: list[dict[str, Any]], signature: str) -> dict[str, Any]:
    """Return the event's entry in an ABI. Raises NotCarried if there is none."""
    plain = "".join(signature.split())
    for entry in spec:
        if entry.get("type") != "event":
            continue
        try:
            event = event_of([entry], text(entry.get("name")))
        except ValueError:
            continue
        if event.signature == plain:
            return entry
    raise NotCarried("its ABI does not have this event")


def _filters(expression: str) -> Body:
    """Return the values by argument of ``a == 1 AND b == 0xab``. Raises NotCarried for anything else."""
    if not expression.strip():
        return {}
    found: Body = {}
    for part in _AND.split(expression.strip()):
        match = _EQUALS.fullmatch(part.strip())
        if match is None or match[1] in found:
            raise NotCarried(f"its condition {expression} has no counterpart: it would notify more")
        found[match[1]] = match[2].strip("\"'")
    return found


def _add_triggers(made: Draft, triggers: Mapping[str, Any]) -> dict[str, str]:
    """Add the channels and return their keys by the trigger's id."""
    keys: dict[str, str] = {}
    for slug, given in triggers.items():
        trigger = mapping(given)
        name, type_ = text(trigger.get("name")) or slug, text(trigger.get("trigger_type"))
        origin, reasons = Origin("trigger", name, f"trigger {slug}"), list[str]()
        make = _TRIGGERS.get(type_)
        if make is None:
            made.report.leave_out(origin, f"triggers of type {type_ or 'none'} have no counterpart")
            continue
        kind, settings = make(made, slug, mapping(trigger.get("config")), reasons)
        body: Body = {"name": name, "type": kind, "config": drop_empty(settings)}
        keys[slug] = made.add("channels", origin, f"oz-channel-{key(slug)}", body, reasons)
    return keys


def _chat(kind: str, field: str) -> Callable[[Draft, str, Item, list[str]], ChannelSettings]:
    def make(made: Draft, slug: str, config: Item, reasons: list[str]) -> ChannelSettings:
        return kind, {"webhookUrl": _secret(made, config.get(field), reasons, slug, "url")}

    return make


def _telegram(made: Draft, slug: str, config: Item, reasons: list[str]) -> ChannelSettings:
    token = _secret(made, config.get("token"), reasons, slug, "bot_token")
    return "telegram", {"botToken": token, "chatId": text(config.get("chat_id"))}


def _email(made: Draft, slug: str, config: Item, reasons: list[str]) -> ChannelSettings:
    del slug, reasons
    return email(made, [text(item) for item in elements(config.get("recipients"))])


def _webhook(made: Draft, slug: str, config: Item, reasons: list[str]) -> ChannelSettings:
    reasons.append("its body is Tocsin's: the receiver must be changed")
    if config.get("secret"):
        reasons.append("its signature is Tocsin's: the receiver needs the channel's secret")
    return "webhook", {
        "url": _secret(made, config.get("url"), reasons, slug, "url"),
        "method": webhook_method(text(config.get("method"))),
        "headers": made.secret_headers(slug, mapping(config.get("headers"))),
    }


_TRIGGERS: Final[Mapping[str, Callable[[Draft, str, Item, list[str]], ChannelSettings]]] = {
    "slack": _chat("slack", "slack_url"),
    "discord": _chat("discord", "discord_url"),
    "telegram": _telegram,
    "email": _email,
    "webhook": _webhook,
}
