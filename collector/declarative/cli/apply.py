"""``tocsin apply``: makes a team's resources match its files, or prints the plan."""

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from collector.declarative.cli import connection
from collector.declarative.cli.files import DeclaredFiles, placed, read, sources
from collector.declarative.service.items import USUAL_SET, is_set_name
from collector.platform.interruptible import Interrupted, run
from shared.command import begin_with
from shared.errors import Invalid, Unavailable
from shared.settings import DeclaredSettings, variables

_BAD: Final = 2
_WOULD_CHANGE: Final = 3
_SIGNS: Final = {"create": "+", "update": "~", "delete": "-"}
_PAST: Final = {"create": "created", "update": "changed", "delete": "deleted"}
_LONGEST: Final = 200
# Between two looks at the files that are watched.
_LOOK_S: Final = 2.0
_USAGE: Final = (
    "tocsin apply -f FILE [-f FILE ...] [--plan [--exit-code]] [--prune] [--set NAME] [--take-over] "
    "[--watch] [--json] [--team TEAM]"
)


def main(argv: list[str]) -> int:
    """Apply the files; return 0 if done, 2 for unusable files, 3 if asked and the plan has changes."""
    own, settings = begin_with(_parser(), DeclaredSettings, argv, _faults)
    return _watch(own, settings) if own.watch else _apply(own, settings)


def _apply(own: argparse.Namespace, settings: DeclaredSettings) -> int:
    unread: list[str] = []
    declared = read(sources(own.file, unread), variables())
    found = [*unread, *declared.faults, *_sets(declared, own.set), *declared.unset]
    if found and not declared.sections:
        return _refused(found)
    body = {
        **declared.sections,
        "set": own.set or next(iter(declared.sets), USUAL_SET),
        "plan": own.plan or bool(found),
        "prune": own.prune,
        "takeOver": own.take_over,
    }
    try:
        answer = run(connection.apply(settings, own.team, body))
    except Invalid as error:
        return _refused([*found, *placed(declared, error.details)])
    if found:
        return _refused(found)
    sys.stdout.write(_json(answer) if own.json else "".join(f"{line}\n" for line in _lines(answer)))
    sys.stdout.flush()
    return _WOULD_CHANGE if own.plan and own.exit_code and answer["changes"] else 0


def _watch(own: argparse.Namespace, settings: DeclaredSettings) -> int:
    """Apply the files now and after each change of them, until interrupted; what fails is tried again."""
    applied: bytes | None = None
    try:
        while True:
            digest = _digest(own.file)
            if digest != applied and _is_done(own, settings):
                applied = digest
            time.sleep(_LOOK_S)
    except (KeyboardInterrupt, Interrupted):
        return 0


def _is_done(own: argparse.Namespace, settings: DeclaredSettings) -> bool:
    """Apply the files, or refuse them; return False if the service cannot be reached."""
    try:
        _apply(own, settings)
    except (Unavailable, OSError) as error:
        sys.stderr.write(f"tocsin: {error}; will retry\n")
        return False
    return True


def _digest(paths: Sequence[str]) -> bytes:
    """Return a digest of the files' names and contents."""
    digest = hashlib.sha256()
    for source in sources(paths, []):
        digest.update(f"{source.name}\0{len(source.content)}\0".encode())
        digest.update(source.content)
    return digest.digest()


def _faults(values: Mapping[str, Any]) -> list[str]:
    found = list(connection.faults(values))
    if values.get("exit_code") and not values.get("plan"):
        found.append("--exit-code: is only for --plan")
    if values.get("watch") and "-" in (values.get("file") or ()):
        found.append("--watch: stdin cannot be watched")
    if values.get("set") is not None and not is_set_name(values["set"]):
        found.append("--set: must be a name of letters, digits and . _ / -")
    return found


def _sets(declared: DeclaredFiles, own: str | None) -> list[str]:
    """Return a fault if the files belong to several sets."""
    names = sorted({*declared.sets, *([own] if own else [])})
    return [f"the files are of several sets: {', '.join(names)}"] if len(names) > 1 else []


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tocsin apply", usage=_USAGE, allow_abbrev=False)
    parser.add_argument(
        "-f",
        "--file",
        action="append",
        required=True,
        help="a YAML or JSON file, a folder of them, or - for stdin; may be repeated",
    )
    parser.add_argument("--plan", action="store_true", help="only print what would change")
    parser.add_argument(
        "--prune", action="store_true", help="delete resources of this set that are no longer declared"
    )
    parser.add_argument("--set", metavar="NAME", help=f"the name of this set of files ({USUAL_SET})")
    parser.add_argument("--take-over", action="store_true", help="take over resources of other sets of files")
    parser.add_argument("--exit-code", action="store_true", help="with --plan: 3 if something would change")
    parser.add_argument("--watch", action="store_true", help="apply again after each change of the files")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--team", help="a team's id or name; by default the first team")
    return parser


def _refused(faults: list[str]) -> int:
    listed = "\n  ".join(dict.fromkeys(faults))
    sys.stderr.write(f"tocsin: files that cannot be used, and nothing was changed:\n  {listed}\n")
    return _BAD


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield each change for people, then the totals."""
    for change in answer["changes"]:
        yield f"{_SIGNS[change['action']]} {change['resource']} {change['key']}"
        for field in change["fields"]:
            yield f"    {field['name']}: {_short(field['old'])} -> {_short(field['new'])}"
    for item in answer["takenOver"]:
        yield f"= {item['resource']} {item['key']}: taken over, {_will(answer)} managed by these files"
    for item in answer["left"]:
        yield f"? {item['resource']} {item['key']}: not declared any more; --prune deletes it"
    for text in answer.get("warnings", ()):
        yield f"! {text}"
    yield _sum(answer)


def _sum(answer: Mapping[str, Any]) -> str:
    counts = {action: sum(change["action"] == action for change in answer["changes"]) for action in _SIGNS}
    counted = [
        f"{count} to {action}" if answer["plan"] else f"{count} {_PAST[action]}"
        for action, count in counts.items()
        if count
    ]
    return ", ".join([*(counted or ["nothing to do"]), f"{answer['unchanged']} unchanged"])


def _will(answer: Mapping[str, Any]) -> str:
    return "would be" if answer["plan"] else "now"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _json(answer: Mapping[str, Any]) -> str:
    return orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode() + "\n"
