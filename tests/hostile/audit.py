"""Asks databases of advisories about each package of the locks: ``python -m tests.hostile.audit PIP_AUDIT``.

It fails if a package has an advisory, and if none of the databases could be asked about one: pip-audit itself
calls a list of packages sound that it left out.
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.hostile.locked import RUN, TEST, packages

DATABASES: Final = ("osv", "pypi")
_LIMIT_S: Final = 600


@dataclass(slots=True)
class Audit:
    """The advisories of each package that has any, and the packages that a database was asked about."""

    advisories: dict[str, list[str]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def take(self, report: dict[str, Any]) -> None:
        """Add a report of pip-audit; packages that it left out count as not asked about."""
        for entry in report["dependencies"]:
            if "skip_reason" in entry:
                continue
            self.asked.add(entry["name"])
            if entry["vulns"]:
                self.advisories[entry["name"]] = [advisory["id"] for advisory in entry["vulns"]]

    def faults(self, wanted: set[str]) -> list[str]:
        """Why the audit fails; empty if every package was asked about and none has an advisory."""
        missing = sorted(wanted - self.asked)
        found = [f"{name}: {', '.join(ids)}" for name, ids in sorted(self.advisories.items())]
        if missing:
            names = ", ".join(missing[:5]) + ("" if len(missing) <= 5 else ", ...")
            found.append(f"audited {len(wanted) - len(missing)} of {len(wanted)} packages, not {names}")
        return found


def report(pip_audit: str, database: str, lines: str) -> dict[str, Any]:
    """What pip-audit writes about the packages in *lines*; no packages if the database is out of reach."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(lines)
        file.flush()
        command = [pip_audit, "--requirement", file.name, "--no-deps", "--disable-pip"]
        ended = subprocess.run(
            [*command, "--vulnerability-service", database, "--format", "json", "--progress-spinner", "off"],
            check=False,
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
        )
    try:
        whole: dict[str, Any] = json.loads(ended.stdout)
    except json.JSONDecodeError:
        reason = ended.stderr.strip().rpartition("\n")[2]
        sys.stderr.write(f"{database}: not reached ({reason[:200]})\n")
        return {"dependencies": []}
    return whole


def main() -> None:
    locked = {package.name: package for lock in (RUN, TEST) for package in packages(lock)}
    lines = "".join(f"{package.name}=={package.version}\n" for package in locked.values())
    audit = Audit()
    for database in DATABASES:
        audit.take(report(str(Path(sys.argv[1])), database, lines))
        if audit.asked >= set(locked):
            break
    faults = audit.faults(set(locked))
    sys.stderr.writelines(f"{fault}\n" for fault in faults)
    if faults:
        raise SystemExit(1)
    sys.stdout.write(f"audited {len(locked)} packages: no advisories\n")


if __name__ == "__main__":
    main()
