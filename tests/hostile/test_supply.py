"""What Tocsin is made of: pinned by hashes, listed, audited; and no secret in the repository."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from shared import join_tokens
from shared.tokens import new_token
from tests.hostile import sbom, secrets
from tests.hostile.audit import Audit
from tests.hostile.locked import RUN, TEST, LockedPackage, packages

LOCKED = {package.name: package for package in packages(RUN)}


@pytest.mark.parametrize("lock", [RUN, TEST], ids=["run", "test"])
def test_every_package_is_pinned_by_its_hashes(lock: Path) -> None:
    found = packages(lock)

    assert len(found) > 40
    assert [package.name for package in found if not package.hashes] == []


@pytest.mark.parametrize("line", ["aiohttp>=3\n", "-r other.txt\n", "-e .\n", "a==1 \\\n    --hash=md5:0\n"])
def test_a_line_that_pins_no_package_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "lock.txt").write_text(line)

    with pytest.raises(ValueError, match="pins no package"):
        packages(tmp_path / "lock.txt")


def test_the_bill_of_materials_names_every_package_that_is_installed() -> None:
    bill = json.loads(json.dumps(sbom.bill(list(LOCKED.values()))))

    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    named = {entry["name"]: entry for entry in bill["components"]}
    assert set(named) == set(LOCKED)
    for name, entry in named.items():
        assert entry["purl"] == f"pkg:pypi/{name}@{LOCKED[name].version}"
        assert entry["scope"] == "optional" or entry["version"] == version(name)
        assert all(len(hash_["content"]) == 64 for hash_ in entry["hashes"])
    [depends] = bill["dependencies"]
    assert set(depends["dependsOn"]) == {entry["bom-ref"] for entry in bill["components"]}


def test_the_same_lock_makes_the_same_bill_and_another_one_another() -> None:
    first, second = (sbom.bill(list(LOCKED.values())) for _ in range(2))
    newer = sbom.bill([*LOCKED.values(), LockedPackage("example", "1.0", "", ("0" * 64,))])

    assert first == second
    assert newer["serialNumber"] != first["serialNumber"]


def entry(name: str, *advisories: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "version": "1", "vulns": [{"id": id_} for id_ in advisories], **more}


def test_an_audit_of_nothing_fails() -> None:
    audit = Audit()
    audit.take({"dependencies": [{"name": name, "skip_reason": "not found"} for name in "ab"]})

    assert audit.faults({"a", "b"}) == ["audited 0 of 2 packages, not a, b"]


def test_an_audit_of_all_passes_and_an_advisory_fails_it() -> None:
    sound, bad = Audit(), Audit()
    sound.take({"dependencies": [entry("a")]})
    sound.take({"dependencies": [entry("b")]})
    bad.take({"dependencies": [entry("a", "CVE-2026-1", "CVE-2026-2"), entry("b")]})

    assert sound.faults({"a", "b"}) == []
    assert bad.faults({"a", "b"}) == ["a: CVE-2026-1, CVE-2026-2"]


def test_no_secret_is_in_a_tracked_file() -> None:
    files = secrets.tracked()

    assert len(files) > 1_000
    assert secrets.scan(files) == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("private key", f"-----BEGIN PRIVATE KEY-----\n{'MIGHAgEA' * 8}\n-----END PRIVATE KEY-----"),
        ("token of Tocsin", f"curl -H 'Authorization: Bearer {new_token()}'"),
        ("join token of Tocsin", join_tokens.show(join_tokens.new(bytes(32)))),
        ("token of a forge", "https://x:ghp_" + "a1B2" * 9 + "@example.com"),
        ("token of Slack", "xoxb" + "-123456789012-123456789012-abcDEF"),
        ("key of a cloud", "AKIA" + "ABCDEFGHIJ234567"),
        ("key of payments", "sk_live" + "_4eC39HqLyjWDarjtT1zdp7dc"),
        ("JSON web token", f"eyJ{'h' * 20}.eyJ{'p' * 30}.{'s' * 43}"),
        ("assigned secret", 'api_key = "' + "a1B2c3D4" * 4 + '"'),
    ],
)
def test_a_secret_is_noticed(kind: str, text: str) -> None:
    assert list(secrets.secrets(f"first line\n{text}\n")) == [(2, kind)]


def test_what_only_looks_like_a_token_of_ours_is_none() -> None:
    assert list(secrets.secrets(f"tocsin_{'a' * 40} tocsin_join_{'a' * 80}")) == []
