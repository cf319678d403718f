"""``tocsin import``: writes another system's monitors as a file for ``tocsin apply``, with a report."""

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import orjson

from collector.declarative.cli import connection
from collector.declarative.cli.text import text as written
from collector.declarative.service.items import is_set_name
from collector.importers.cli.prometheus_files import prometheus_files
from collector.importers.cli.sources import (
    UnreadableSource,
    autokuma_entities,
    documents,
    gatus_document,
    json_of,
    kuma_source,
    openzeppelin_document,
    text_of,
)
from collector.importers.core import (
    autokuma,
    better_stack,
    cachet,
    checkly,
    gatus,
    healthchecks,
    openzeppelin,
    pingdom,
    prometheus,
    statuscake,
    statuspage,
    upptime,
    uptime_kuma,
    uptimerobot,
)
from collector.importers.core.draft import Draft, WrongSource, filled
from collector.importers.core.report import ImportReport
from collector.importers.service.finish import finish, variables
from collector.platform.interruptible import run
from shared.command import begin_with
from shared.errors import Invalid
from shared.settings import DeclaredSettings
from shared.settings import variables as environment

_BAD: Final = 2
_LEFT_OUT: Final = 3
_SYSTEMS: Final = {
    "kuma": "Uptime Kuma: kuma.db of 1.x or 2.x, or the JSON backup of 1.x",
    "autokuma": "AutoKuma: a JSON, TOML or YAML file of its entities, or a folder of them",
    "gatus": "Gatus: a YAML file or a folder of them",
    "prometheus": "Prometheus with blackbox_exporter and Alertmanager: prometheus.yml, or its folder",
    "upptime": "Upptime: .upptimerc.yml",
    "openzeppelin": "OpenZeppelin Monitor: its folder config, with networks, monitors and triggers",
    "uptimerobot": "UptimeRobot: getMonitors (v2) or /v3/monitors, perhaps with alert_contacts",
    "healthchecks": "Healthchecks: /api/v3/checks/, perhaps with channels",
    "betterstack": "Better Stack: monitors, heartbeats and monitor_groups",
    "checkly": "Checkly: checks, perhaps with groups, alertChannels, maintenanceWindows and pages",
    "pingdom": "Pingdom: checks, each with its details",
    "statuscake": "StatusCake: uptime, heartbeat and ssl",
    "cachet": "Cachet: components, perhaps with groups, incidents and settings",
    "statuspage": "Statuspage: page with components, as of summary.json",
}
# Those whose source is a file of answers of their API.
_ANSWERS: Final[Mapping[str, Callable[[Any], Draft]]] = {
    "uptimerobot": uptimerobot.draft,
    "healthchecks": healthchecks.draft,
    "betterstack": better_stack.draft,
    "checkly": checkly.draft,
    "pingdom": pingdom.draft,
    "statuscake": statuscake.draft,
    "cachet": cachet.draft,
    "statuspage": statuspage.draft,
}
_HEAD: Final = "# Made by tocsin import from {system}. Look through it, then: tocsin apply -f FILE --plan\n"
_USAGE: Final = "tocsin import SYSTEM SOURCE [-o FILE] [--secrets FILE] [--apply] [--report text|json]"


def main(argv: list[str]) -> int:
    """Import; return 0 if all was carried, 3 if something was left out, 2 for an unusable source."""
    own, settings = begin_with(_parser(), DeclaredSettings, argv, _faults)
    try:
        draft = _draft(own)
    except UnreadableSource as error:
        return _refused(str(error))
    sections = finish(draft)
    values = variables(draft)
    try:
        _write(own, draft.system, sections, values)
    except OSError as error:
        return _refused(f"{error.filename}: cannot be written: {error.strerror or error}")
    sys.stderr.write(_report(draft.report, values, own.report))
    if own.apply:
        applied = _apply(own, settings, draft, values)
        if applied:
            return applied
    return 0 if draft.report.complete else _LEFT_OUT


def _kuma_options(own: argparse.Namespace) -> uptime_kuma.Options:
    return uptime_kuma.Options(own.stand_ins, own.skip_paused, own.timezone or "")


# Those whose source is files of their own.
_FILES: Final[Mapping[str, Callable[[argparse.Namespace, Path], Draft]]] = {
    "kuma": lambda own, path: uptime_kuma.draft(kuma_source(path), _kuma_options(own)),
    "autokuma": lambda own, path: autokuma.draft(autokuma_entities(path), _kuma_options(own)),
    "gatus": lambda own, path: gatus.draft(gatus_document(path, environment() if own.env else None)),
    "prometheus": lambda own, path: prometheus.draft(prometheus_files(path, own.blackbox, own.alertmanager)),
    "openzeppelin": lambda _, path: openzeppelin.draft(openzeppelin_document(path)),
    "upptime": lambda _, path: upptime.draft(documents(path, upptime.with_variables(text_of(path)))[0]),
}


def _draft(own: argparse.Namespace) -> Draft:
    path = Path(own.source)
    read = _FILES.get(own.system)
    try:
        return read(own, path) if read else _ANSWERS[own.system](json_of(path))
    except WrongSource as error:
        raise UnreadableSource(f"{path}: {error}") from None


def _write(
    own: argparse.Namespace, system: str, sections: Mapping[str, Any], values: Mapping[str, str]
) -> None:
    """Write the file, and the values of its variables into another one that its owner alone can read."""
    body = written(sections, _HEAD.format(system=system))
    if own.output:
        Path(own.output).write_text(body, encoding="utf-8")
    elif not own.apply:
        sys.stdout.write(body)
    if own.secrets:
        lines = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in values.items())
        number = os.open(own.secrets, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as stream:
            os.fchmod(number, 0o600)
            stream.write(lines)


def _report(report: ImportReport, values: Mapping[str, str], form: str) -> str:
    if form == "json":
        body = {
            **asdict(report),
            "variables": list(values),
            "counts": {str(outcome): n for outcome, n in report.counts().items()},
        }
        return orjson.dumps(body, option=orjson.OPT_INDENT_2).decode() + "\n"
    named = [
        name if value else f"{name} (the source does not show its value)" for name, value in values.items()
    ]
    return "".join(f"{line}\n" for line in report.text(named))


def _apply(
    own: argparse.Namespace, settings: DeclaredSettings, draft: Draft, values: Mapping[str, str]
) -> int:
    """Apply the file with the values of its variables; return another exit status than 0 if it is refused."""
    here = environment()
    known = {name: value or here.get(name, "") for name, value in values.items()}
    unset = [name for name, value in known.items() if not value]
    if unset:
        return _refused(f"nothing was applied: these variables are not set: {', '.join(unset)}")
    sections = {
        name: [filled(item.body, known) for item in items.values()]
        for name, items in draft.sections.items()
        if items
    }
    body = {**sections, "set": own.set or draft.system, "plan": False, "prune": False, "takeOver": False}
    try:
        answer = run(connection.apply(settings, own.team, body))
    except Invalid as error:
        return _refused("\n  ".join(f"{name}: {text}" for name, text in error.details.items()))
    created = sum(change["action"] == "create" for change in answer["changes"])
    changed = len(answer["changes"]) - created
    sys.stderr.write(f"applied: {created} created, {changed} changed, {answer['unchanged']} unchanged\n")
    return 0


def _refused(text: str) -> int:
    sys.stderr.write(f"tocsin: {text}\n")
    return _BAD


def _faults(values: Mapping[str, Any]) -> list[str]:
    found = list(connection.faults(values))
    if values.get("set") is not None and not is_set_name(values["set"]):
        found.append("--set: must be a name of letters, digits and . _ / -")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tocsin import", usage=_USAGE, allow_abbrev=False)
    parser.add_argument("system", choices=list(_SYSTEMS), help="; ".join(_SYSTEMS.values()))
    parser.add_argument("source", help="a file or a folder")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where to write the file; by default to stdout"
    )
    parser.add_argument(
        "--secrets", metavar="FILE", help="where to write the values of its variables, as export lines"
    )
    parser.add_argument(
        "--report", choices=["text", "json"], default="text", help="form of the report on stderr"
    )
    parser.add_argument("--apply", action="store_true", help="apply the file, too")
    parser.add_argument("--set", metavar="NAME", help="with --apply: the set of files that it belongs to")
    parser.add_argument("--stand-ins", action="store_true", help="kuma: check the port of unknown protocols")
    parser.add_argument("--skip-paused", action="store_true", help="kuma: leave paused monitors out")
    parser.add_argument("--timezone", metavar="ZONE", help="kuma: the zone of its server")
    parser.add_argument("--env", action="store_true", help="gatus: fill in variables from the environment")
    parser.add_argument("--blackbox", metavar="FILE", help="prometheus: blackbox.yml, if it is not beside it")
    parser.add_argument(
        "--alertmanager", metavar="FILE", help="prometheus: alertmanager.yml, if it is not beside it"
    )
    parser.add_argument("--team", help="a team's id or name; by default the first team")
    return parser
