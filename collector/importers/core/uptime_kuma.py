"""Uptime Kuma: its database (1.x and 2.x) and the backup file of 1.x."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from collector.importers.core import uptime_kuma_channels as kuma_channels
from collector.importers.core import uptime_kuma_windows as kuma_windows
from collector.importers.core.draft import Body, Draft, NotCarried, WrongSource
from collector.importers.core.report import PAUSED, Origin
from collector.importers.core.uptime_kuma_kinds import DEFAULT_S, Kinds
from collector.importers.core.values import (
    drop_empty,
    interval,
    key,
    number,
    objects,
    tags,
    text,
    threshold,
    timeout,
    truth,
    whole,
)

Row = Mapping[str, Any]
Made = tuple[str, Body]

SYSTEM: Final = "kuma"
_SLUG: Final = re.compile(r"[^a-z0-9]+")


@dataclass(slots=True)
class Source:
    """Rows of the tables by name, each with its columns folded: lower case, without underscores."""

    monitors: list[Row] = field(default_factory=list)
    notifications: list[Row] = field(default_factory=list)
    monitor_notifications: list[Row] = field(default_factory=list)
    tags: list[Row] = field(default_factory=list)
    monitor_tags: list[Row] = field(default_factory=list)
    proxies: list[Row] = field(default_factory=list)
    pages: list[Row] = field(default_factory=list)
    page_domains: list[Row] = field(default_factory=list)
    page_groups: list[Row] = field(default_factory=list)
    page_monitors: list[Row] = field(default_factory=list)
    windows: list[Row] = field(default_factory=list)
    window_monitors: list[Row] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    behind: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Options:
    """*stand_ins*: a TCP check in place of protocols that we do not speak; *timezone*: of the server."""

    stand_ins: bool = False
    skip_paused: bool = False
    timezone: str = ""


def folded(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return *row* with its names in lower case and without underscores."""
    return {str(name).replace("_", "").lower(): value for name, value in row.items()}


def of_backup(document: Any) -> Source:
    """Read a backup, or a list of monitors. Raises WrongSource if it is neither."""
    if isinstance(document, list):
        document = {"monitorList": document}
    whole_ = folded(document) if isinstance(document, dict) else {}
    listed = whole_.get("monitorlist", whole_.get("monitors"))
    if isinstance(listed, dict):
        listed = list(listed.values())
    if not isinstance(listed, list):
        raise WrongSource("is no backup of Uptime Kuma: it has no monitorList")
    source = Source()
    for place, raw in enumerate(listed, 1):
        if isinstance(raw, dict):
            row = {"id": place, **folded(raw)}
            source.monitors.append(row)
            source.monitor_tags += [
                {**folded(tag), "monitorid": row["id"]} for tag in objects(row.get("tags"))
            ]
            chosen = row.get("notificationidlist")
            source.monitor_notifications += [
                {"monitorid": row["id"], "notificationid": id_} for id_ in _chosen(chosen)
            ]
    source.notifications = [folded(item) for item in objects(whole_.get("notificationlist"))]
    source.proxies = [folded(item) for item in objects(whole_.get("proxylist"))]
    return source


def draft(source: Source, options: Options) -> Draft:
    """Return the file's contents and the report."""
    made = Draft(SYSTEM)
    made.report.behind.update(source.behind)
    made.report.say(
        "Kuma waits a retry interval between tries; a failed check is repeated after 1, 2 and 4 s here"
    )
    channels = kuma_channels.add(made, source.notifications)
    parts = _Monitors(made, source, options)
    by_id = parts.add_all(channels)
    kuma_windows.add(made, source, by_id, parts.children, options.timezone)
    _add_pages(made, source, by_id)
    return made


class _Monitors:
    """Adds the monitors; *children*: ids of the monitors below a group's id."""

    def __init__(self, made: Draft, source: Source, options: Options) -> None:
        self._made = made
        self._source = source
        self._options = options
        self._kinds = Kinds(made, source.proxies, stand_ins=options.stand_ins)
        self._rows = {text(row.get("id")): row for row in source.monitors}
        self._tags: dict[str, list[tuple[str, Any]]] = defaultdict(list)
        names = {text(row.get("id")): text(row.get("name")) for row in source.tags}
        for row in source.monitor_tags:
            name = text(row.get("name")) or names.get(text(row.get("tagid")), "")
            if name:
                self._tags[text(row.get("monitorid"))].append((name, row.get("value")))
        self._channels: dict[str, list[str]] = defaultdict(list)
        for row in source.monitor_notifications:
            self._channels[text(row.get("monitorid"))].append(text(row.get("notificationid")))
        self.children: dict[str, list[str]] = defaultdict(list)
        for id_, row in self._rows.items():
            for above in self._above(row):
                self.children[above].append(id_)

    def add_all(self, channels: Mapping[str, str]) -> dict[str, str]:
        """Add all and return their keys by Kuma's id."""
        keys: dict[str, str] = {}
        for id_, row in self._rows.items():
            type_ = text(row.get("type")) or ("http" if row.get("url") else "")
            origin = Origin("monitor", text(row.get("name")) or f"monitor {id_}", f"monitor#{id_}")
            if type_ == "group":
                self._made.report.say(
                    "a group of Kuma is the field `group` of its monitors: it has no status of its own"
                )
                self._made.report.add(origin, [])
                continue
            paused = not truth(row.get("active", True)) and not truth(row.get("forceinactive"))
            if paused and self._options.skip_paused:
                self._made.report.leave_out(origin, "is paused, and --skip-paused was given")
                continue
            try:
                keys[id_] = self._add(id_, row, type_, origin)
            except NotCarried as error:
                self._made.report.leave_out(origin, str(error))
        for id_, of in keys.items():
            self._notify(id_, of, channels)
        return keys

    def _add(self, id_: str, row: Row, type_: str, origin: Origin) -> str:
        reasons: list[str] = []
        every = interval(float(whole(row.get("interval")) or DEFAULT_S), reasons)
        tries = threshold((whole(row.get("maxretries")) or 0) + 1)
        kind, config = self._kinds.config(row, type_, reasons)
        if not truth(row.get("active", True)):
            reasons.append(PAUSED)
        if truth(row.get("expirynotification")):
            reasons.append("the warning about its certificate's expiry: add a monitor of type tls")
        if truth(row.get("domainexpirynotification")):
            reasons.append("the warning about its domain's expiry is not carried")
        body: Body = {
            "name": origin.name,
            "type": kind,
            "interval": every,
            "timeout": timeout(number(row.get("timeout")) or 0.8 * every, []),
            "failureThreshold": tries,
            "description": text(row.get("description")) or None,
            "group": self._group(row),
            "tags": tags(self._tags[id_]) or None,
            "config": config,
        }
        if kind == "heartbeat":
            for name in ("timeout", "failureThreshold", "interval"):
                del body[name]
        return self._made.add("monitors", origin, f"kuma-{key(id_)}", body, reasons)

    def _notify(self, id_: str, monitor: str, channels: Mapping[str, str]) -> None:
        row = self._rows[id_]
        chosen = list(self._channels[id_])
        for above in self._above(row):
            chosen += self._channels[above]
        every = whole(row.get("interval")) or DEFAULT_S
        again = whole(row.get("resendinterval")) or 0
        settings = {"repeatMinutes": min(max(math.ceil(again * every / 60), 1), 10_080)} if again else {}
        self._made.notify(monitor, [channels[item] for item in chosen if item in channels], **settings)

    def _above(self, row: Row) -> list[str]:
        """Return the ids of the groups that *row* is in, the nearest first."""
        found: list[str] = []
        id_ = text(row.get("parent"))
        while id_ in self._rows and id_ not in found:
            found.append(id_)
            id_ = text(self._rows[id_].get("parent"))
        return found

    def _group(self, row: Row) -> str | None:
        names = [text(self._rows[id_].get("name")) for id_ in reversed(self._above(row))]
        return " / ".join(names)[:255] or None


def _add_pages(made: Draft, source: Source, monitors: Mapping[str, str]) -> None:
    for row in source.pages:
        id_, reasons = text(row.get("id")), list[str]()
        origin = Origin("status page", text(row.get("title")) or text(row.get("slug")), f"status_page#{id_}")
        slug = _SLUG.sub("-", text(row.get("slug")).lower()).strip("-")
        if slug != text(row.get("slug")):
            reasons.append(f"its address {text(row.get('slug'))} becomes {slug}")
        domains = [
            text(item.get("domain")) for item in source.page_domains if text(item.get("statuspageid")) == id_
        ]
        if len(domains) > 1:
            reasons.append(f"only the first of its {len(domains)} domains is carried: {domains[0]}")
        for name, words in (
            ("customcss", "custom CSS"),
            ("footertext", "footer"),
            ("analyticsid", "analytics"),
            ("googleanalyticstagid", "analytics"),
        ):
            if text(row.get(name)):
                reasons.append(f"its {words} is not carried")
        body: Body = {
            "name": origin.name,
            "slug": slug or None,
            "visibility": "public" if truth(row.get("published", True)) else "private",
            "domain": domains[0] if domains else None,
            "components": _components(source, id_, monitors, reasons),
        }
        made.add("statusPages", origin, f"kuma-page-{key(id_)}", body, reasons)


def _components(source: Source, page: str, monitors: Mapping[str, str], reasons: list[str]) -> list[Body]:
    groups = sorted((row for row in source.page_groups if text(row.get("statuspageid")) == page), key=_weight)
    names = {text(row.get("id")): text(row.get("name")) for row in source.monitors}
    found: list[Body] = []
    taken: set[tuple[str, str]] = set()
    for group in groups:
        inside = [row for row in source.page_monitors if text(row.get("groupid")) == text(group.get("id"))]
        for row in sorted(inside, key=_weight):
            id_ = text(row.get("monitorid"))
            name, of = names.get(id_, ""), text(group.get("name"))
            if id_ not in monitors:
                reasons.append(f"its component {name or id_} is left out: its monitor is not carried")
            elif (of, name) in taken:
                reasons.append(f"its component {name} stands twice in {of}: once is carried")
            else:
                taken.add((of, name))
                found.append(drop_empty({"name": name, "group": of, "monitorId": monitors[id_]}))
    return found


def _weight(row: Row) -> tuple[int, int]:
    return whole(row.get("weight")) or 0, whole(row.get("id")) or 0


def _chosen(given: Any) -> list[Any]:
    """Return the ids of an object ``{"1": true}``, or of a list."""
    if isinstance(given, dict):
        return [id_ for id_, on in given.items() if on]
    return given if isinstance(given, list) else []
