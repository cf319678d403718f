"""Looks for secrets in the files that Git tracks: ``python -m tests.hostile.secrets``."""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import which
from typing import Final

from shared import join_tokens
from shared.tokens import checksum_ok
from tests.hostile.locked import ROOT

PATTERNS: Final[Mapping[str, re.Pattern[str]]] = {
    "private key": re.compile(r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40}"),
    "token of Tocsin": re.compile(r"tocsin_[0-9A-Za-z]{40}\b"),
    "join token of Tocsin": re.compile(r"tocsin_join_[0-9A-Za-z_-]{80}"),
    "token of a forge": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{60,}|glpat-[\w-]{20})\b"),
    "token of Slack": re.compile(r"\bxox[abprs]-[0-9]{8,}-[0-9A-Za-z-]{10,}"),
    "key of a cloud": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{35}\b"),
    "key of payments": re.compile(r"\b[sr]k_live_[0-9A-Za-z]{20,}"),
    "JSON web token": re.compile(r"\beyJ[\w-]{10,}\.eyJ[\w-]{20,}\.[\w-]{40,}"),
    "assigned secret": re.compile(
        r"\b(?i:secret_?key|api_?key|password|passwd|auth_?token)[\"']?\s*[:=]\s*[\"'](?=[^\"'\s]*[0-9])"
        r"(?=[^\"'\s]*[a-z])(?=[^\"'\s]*[A-Z])([A-Za-z0-9+/_=-]{32,})[\"']"
    ),
}
_MADE: Final = frozenset({"__pycache__", "build", "dist", "node_modules", "var"})


def secrets(text: str) -> Iterator[tuple[int, str]]:
    """The line of each secret in *text*, and what it is."""
    for kind, pattern in PATTERNS.items():
        for match in pattern.finditer(text):
            if _is_real(kind, match[0]):
                yield text.count("\n", 0, match.start()) + 1, kind


def _is_real(kind: str, written: str) -> bool:
    """Whether a token of ours has a valid checksum: those of tests and of the docs have none."""
    if kind == "token of Tocsin":
        return checksum_ok(written)
    if kind == "join token of Tocsin":
        try:
            join_tokens.read(written)
        except ValueError:
            return False
    return True


def tracked() -> list[Path]:
    """The files that Git tracks; outside of a clone all files, without those that programs made."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, check=False, capture_output=True, text=True) if which("git") else None
    if listed is None or listed.returncode:
        return [path for path in sorted(ROOT.rglob("*")) if not _is_made(path.relative_to(ROOT).parts[:-1])]
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def _is_made(folders: tuple[str, ...]) -> bool:
    """Whether programs made what is in these folders, as environments, caches and data."""
    return any((folder.startswith(".") and folder != ".ci") or folder in _MADE for folder in folders)


def scan(files: list[Path]) -> list[str]:
    """``file:line: kind`` of each secret in these files."""
    return [
        f"{path.relative_to(ROOT)}:{line}: {kind}"
        for path in files
        if path.is_file()
        for line, kind in secrets(path.read_text(encoding="utf-8", errors="replace"))
    ]


def main() -> None:
    files = tracked()
    found = scan(files)
    sys.stderr.writelines(f"{line}\n" for line in found)
    if found or not files:
        raise SystemExit(1)
    sys.stdout.write(f"looked into {len(files)} files: no secrets\n")


if __name__ == "__main__":
    main()
