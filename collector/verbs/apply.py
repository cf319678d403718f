"""``tocsin apply``: makes what a team has what files declare, or says what would change."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from collector.verbs import declared_way
from collector.verbs.declared_files import placed, read, sources
from collector.verbs.stopping import run
from shared.command import begin_with
from shared.errors import Invalid
from shared.settings import DeclaredSettings, variables

_BAD: Final = 2
_WOULD_CHANGE: Final = 3
_SIGNS: Final = {"create": "+", "update": "~", "delete": "-"}
_PAST: Final = {"create": "created", "update": "changed", "delete": "deleted"}
_LONGEST: Final = 200


def main(argv: list[str]) -> int:
    """0 when it is done or there is nothing to do, 2 for files that cannot be used."""
    own, settings = begin_with(_parser(), DeclaredSettings, argv, declared_way.faults)
    unread: list[str] = []
    declared = read(sources(own.file, unread), variables())
    if unread or declared.faults:
        return _refused([*unread, *declared.faults])
    body = {**declared.sections, "plan": own.plan or bool(declared.unset), "prune": own.prune}
    try:
        answer = run(declared_way.apply(settings, own.team, body))
    except Invalid as error:
        return _refused([*declared.unset, *placed(declared, error.details)])
    if declared.unset:
        return _refused(declared.unset)
    sys.stdout.write(_json(answer) if own.json else "".join(f"{line}\n" for line in _lines(answer)))
    return _WOULD_CHANGE if own.plan and own.exit_code and answer["changes"] else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tocsin apply", usage="tocsin apply -f FILE [--plan] [--prune]", allow_abbrev=False
    )
    parser.add_argument(
        "-f",
        "--file",
        action="append",
        required=True,
        help="YAML or JSON, a folder of it, or -; may be repeated",
    )
    parser.add_argument("--plan", action="store_true", help="change nothing, say what would change")
    parser.add_argument("--prune", action="store_true", help="delete what files made and declare no more")
    parser.add_argument("--exit-code", action="store_true", help="with --plan: 3 if something would change")
    parser.add_argument("--json", action="store_true", help="say it as JSON")
    parser.add_argument("--team", help="a team's id or name; the first team without it")
    return parser


def _refused(faults: list[str]) -> int:
    told = "\n  ".join(dict.fromkeys(faults))
    sys.stderr.write(f"tocsin: files that cannot be used, and nothing was changed:\n  {told}\n")
    return _BAD


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """For people: each change, then how many there are."""
    for change in answer["changes"]:
        yield f"{_SIGNS[change['action']]} {change['resource']} {change['key']}"
        for one in change["fields"]:
            yield f"    {one['name']}: {_short(one['old'])} -> {_short(one['new'])}"
    for one in answer["takenOver"]:
        yield f"= {one['resource']} {one['key']}: made by hand, {_will(answer)} kept by these files"
    for one in answer["left"]:
        yield f"? {one['resource']} {one['key']}: not declared any more; --prune deletes it"
    for text in answer.get("warnings", ()):
        yield f"! {text}"
    yield _sum(answer)


def _sum(answer: Mapping[str, Any]) -> str:
    counts = {action: sum(one["action"] == action for one in answer["changes"]) for action in _SIGNS}
    told = [
        f"{count} to {action}" if answer["plan"] else f"{count} {_PAST[action]}"
        for action, count in counts.items()
        if count
    ]
    return ", ".join([*(told or ["nothing to do"]), f"{answer['unchanged']} unchanged"])


def _will(answer: Mapping[str, Any]) -> str:
    return "would be" if answer["plan"] else "now"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _json(answer: Mapping[str, Any]) -> str:
    return orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode() + "\n"
