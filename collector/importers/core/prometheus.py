"""Prometheus with blackbox_exporter and Alertmanager: three files, together or the first two."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from collector.importers.core import alertmanager, blackbox
from collector.importers.core.draft import Body, Draft, NotCarried, WrongSource
from collector.importers.core.report import Origin
from collector.importers.core.values import (
    drop_empty,
    elements,
    interval,
    key,
    label_matches,
    mapping,
    objects,
    seconds,
    tags,
    text,
    timeout,
)

SYSTEM: Final = "prometheus"

_SCRAPE_S: Final = 60.0
_SCRAPE_TIMEOUT_S: Final = 10.0
# The exporter answers a bit before Prometheus gives up.
_OFFSET_S: Final = 0.5
_DISCOVERIES: Final = re.compile(r"(\w+)_sd_configs")
_SEVERITIES: Final = {
    "page": "critical", "critical": "critical", "error": "high", "high": "high", "warning": "medium",
    "warn": "medium", "medium": "medium", "info": "low", "low": "low",
}  # fmt: skip
_PROBE_DOWN: Final = re.compile(r"probe_success\s*(\{[^}]*\})?\s*(?:==\s*0|!=\s*1|<\s*1)")
_PROBE_SHARE: Final = re.compile(
    r"avg_over_time\(\s*probe_success\s*(\{[^}]*\})?\s*\[(\w+)\]\s*\)\s*<\s*(0?\.\d+)"
)
_EXPIRY: Final = re.compile(
    r"probe_ssl_earliest_cert_expiry\s*(\{[^}]*\})?\s*-\s*time\(\)\s*\)?\s*(?:<=?\s*(?:86400\s*\*\s*(\d+)|(\d+)\s*\*\s*86400|(\d+))|/\s*86400\s*<=?\s*(\d+))"
)
_DURATION: Final = re.compile(
    r"(?:avg_over_time\(\s*)?probe_(?:http_)?duration_seconds\s*(\{[^}]*\})?\s*(?:\[\w+\]\s*\))?\s*>=?\s*([\d.]+)"
)
_MATCHER: Final = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"')
_DAY_S: Final = 86_400


@dataclass(slots=True)
class Files:
    """*rules*: of the rule files; *targets*: contents of file_sd files by the pattern that names them."""

    prometheus: Mapping[str, Any]
    blackbox: Mapping[str, Any]
    alertmanager: Mapping[str, Any] = field(default_factory=dict)
    rules: list[Mapping[str, Any]] = field(default_factory=list)
    targets: dict[str, list[Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Probed:
    """A monitor with the labels that Prometheus would give its series."""

    monitor: str
    labels: Mapping[str, str]
    every_s: int


def is_prometheus(document: Any) -> bool:
    """Whether a document is a configuration of Prometheus."""
    return isinstance(document, dict) and ("scrape_configs" in document or "rule_files" in document)


def draft(files: Files) -> Draft:
    """Return the file's contents and the report. Raises WrongSource if there is no blackbox job."""
    modules = files.blackbox.get("modules")
    if not isinstance(modules, dict):
        raise WrongSource("blackbox.yml is missing, or has no modules: give it with --blackbox")
    made = Draft(SYSTEM)
    probed: list[_Probed] = []
    usual = mapping(files.prometheus.get("global"))
    for job in objects(files.prometheus.get("scrape_configs")):
        name = text(job.get("job_name"))
        if text(job.get("metrics_path")) != "/probe":
            continue
        probed += _job(made, job, name, usual, modules, files)
    routes = alertmanager.Routes(made, files.alertmanager)
    _rules(made, files.rules, probed, routes)
    return made


def _job(
    made: Draft,
    job: Mapping[str, Any],
    name: str,
    usual: Mapping[str, Any],
    modules: Mapping[str, Any],
    files: Files,
) -> Iterator[_Probed]:
    every_s = seconds(job.get("scrape_interval") or usual.get("scrape_interval")) or _SCRAPE_S
    wait_s = seconds(job.get("scrape_timeout") or usual.get("scrape_timeout")) or _SCRAPE_TIMEOUT_S
    for at, (target, labels, place) in enumerate(_targets(made, job, name, files), 1):
        named = _module(job, labels)
        origin = Origin("target", target, f"{name}: {place}[{at}]")
        module = modules.get(named)
        if not isinstance(module, dict):
            made.report.leave_out(origin, f"its module {named or 'none'} is not in blackbox.yml")
            continue
        reasons: list[str] = []
        try:
            kind, config = blackbox.configuration(made, module, named, target, _hostname(job), reasons)
        except NotCarried as error:
            made.report.leave_out(origin, str(error))
            continue
        own = {label: value for label, value in labels.items() if not label.startswith("__")}
        body: Body = {
            "name": target,
            "type": kind,
            "group": name,
            "interval": interval(every_s, reasons),
            "timeout": timeout(seconds(module.get("timeout")) or max(wait_s - _OFFSET_S, 1), reasons),
            "failureThreshold": 1,
            "tags": tags(own.items()),
            "config": config,
        }
        monitor = made.add("monitors", origin, f"prom-{key(name)}-{key(target)}", drop_empty(body), reasons)
        shown = {"job": name, "instance": target, "target": target, "module": named, **own}
        yield _Probed(monitor, shown, int(body["interval"]))


def _targets(
    made: Draft, job: Mapping[str, Any], name: str, files: Files
) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield target, labels and place. A target of discovery other than by files is not in the file."""
    for group in objects(job.get("static_configs")):
        yield from _group(job, group, "static_configs")
    for listed in objects(job.get("file_sd_configs")):
        for pattern in map(str, elements(listed.get("files"))):
            if pattern not in files.targets:
                made.report.leave_out(
                    Origin("targets", pattern, name), "the file is not beside prometheus.yml"
                )
            for group in elements(files.targets.get(pattern)):
                yield from _group(job, group, pattern)
    for field_ in job:
        found = _DISCOVERIES.fullmatch(str(field_))
        if found and found[1] != "file":
            made.report.leave_out(
                Origin("targets", f"{found[1]} discovery", name), "its targets are not in the file"
            )


def _group(job: Mapping[str, Any], group: Any, place: str) -> Iterator[tuple[str, dict[str, str], str]]:
    given = group if isinstance(group, dict) else {}
    labels = {str(label): text(value) for label, value in mapping(given.get("labels")).items()}
    own = mapping(job.get("params")).get("target")
    targets = elements(own) or elements(given.get("targets"))
    for target in map(text, targets):
        if target:
            yield target, labels, place


def _module(job: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """Return the module of a target: of a label by relabeling, or of the job's parameters."""
    for rule in objects(job.get("relabel_configs")):
        sources = rule.get("source_labels")
        if text(rule.get("target_label")) == "__param_module" and isinstance(sources, list) and sources:
            value = labels.get(text(sources[0]))
            if value:
                return value
    if "__param_module" in labels:
        return labels["__param_module"]
    listed = mapping(job.get("params")).get("module")
    return text(listed[0]) if isinstance(listed, list) and listed else text(listed)


def _hostname(job: Mapping[str, Any]) -> str:
    listed = mapping(job.get("params")).get("hostname")
    return text(listed[0]) if isinstance(listed, list) and listed else ""


def _rules(
    made: Draft,
    documents: Iterable[Mapping[str, Any]],
    probed: Sequence[_Probed],
    routes: "alertmanager.Routes",
) -> None:
    groups = [group for document in documents for group in objects(document.get("groups"))]
    alerts = [(group, rule) for group in groups for rule in objects(group.get("rules")) if "alert" in rule]
    for group, rule in alerts:
        origin = Origin("alert rule", text(rule.get("alert")), text(group.get("name")))
        _rule(made, rule, origin, probed, routes)


def _rule(
    made: Draft,
    rule: Mapping[str, Any],
    origin: Origin,
    probed: Sequence[_Probed],
    routes: "alertmanager.Routes",
) -> None:
    """Carry a rule over its monitors: their thresholds, and rules of ours for the channels of its routes."""
    expression = text(rule.get("expr"))
    if "probe_" not in expression:
        made.report.leave_out(origin, "is not about a probe of blackbox_exporter")
        return
    match = next(
        (
            m
            for pattern in (_PROBE_SHARE, _PROBE_DOWN, _EXPIRY, _DURATION)
            if (m := pattern.search(expression))
        ),
        None,
    )
    if match is None:
        made.report.leave_out(origin, f"its expression has no counterpart: {expression}")
        return
    chosen = [one for one in probed if _matches(match[1], one.labels)]
    if not chosen:
        made.report.leave_out(origin, "none of the carried targets has its labels")
        return
    labels = {str(name): text(value) for name, value in mapping(rule.get("labels")).items()}
    reasons = ["its labels and annotations are not carried as texts"] if rule.get("annotations") else []
    for target in chosen:
        item = made.sections["monitors"][target.monitor]
        settings = _settings(match, rule, target, item.body, reasons)
        severity = _SEVERITIES.get(labels.get("severity", "").lower())
        if severity and match.re is _PROBE_DOWN:
            item.body["severity"] = severity
        channels, repeat = routes.channels({**target.labels, **labels, "alertname": origin.name})
        if settings is not None:
            again = {"repeatMinutes": repeat} if repeat else {}
            made.notify(target.monitor, channels, **settings, **again)
    made.report.add(origin, list(dict.fromkeys(reasons)))


def _settings(
    match: re.Match[str], rule: Mapping[str, Any], target: _Probed, body: Body, reasons: list[str]
) -> Body | None:
    """Return the fields of our rule; None if the monitor itself fails in its place."""
    if match.re is _PROBE_DOWN:
        lasts_s = seconds(rule.get("for")) or 0
        body["failureThreshold"] = min(max(round(lasts_s / target.every_s), 1), 100)
        return {}
    if match.re is _PROBE_SHARE:
        window_s = seconds(match[2]) or 300
        percent = round((1 - float(match[3])) * 100, 2)
        return {"conditions": {"errorRatePercent": percent, "windowMinutes": max(round(window_s / 60), 1)}}
    if match.re is _DURATION:
        return {"conditions": {"latencyThresholdMs": round(float(match[2]) * 1000)}}
    days = next((int(number) for number in match.groups()[1:] if number), 0)
    days = days // _DAY_S if match[4] else days
    if body["type"] == "http" and text(body["config"].get("url")).startswith("https://"):
        body["config"].setdefault("assertions", []).append(
            {"source": "certificateDays", "op": "gt", "value": days}
        )
        reasons.append(f"a monitor fails when its certificate has {days} days left")
    else:
        reasons.append("the expiry of a certificate is checked for https targets alone")
    return None


def _matches(selector: str | None, labels: Mapping[str, str]) -> bool:
    """Whether labels match a selector such as ``{job="x", instance=~"a|b"}``."""
    matchers = _MATCHER.findall(selector or "")
    return all(label_matches(labels.get(name, ""), operator, value) for name, operator, value in matchers)
