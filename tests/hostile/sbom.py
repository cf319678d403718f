"""A bill of materials of what runs, in CycloneDX: ``python -m tests.hostile.sbom FILE``.

The same lock makes the same file, byte for byte.
"""

import json
import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from shared import __version__
from tests.hostile.locked import RUN, LockedPackage, packages

_FORM: Final = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1}
_OURS: Final = f"pkg:generic/tocsin@{__version__}"


def bill(locked: list[LockedPackage]) -> dict[str, Any]:
    """The bill of materials of these packages, which Tocsin depends on."""
    components = [_component(package) for package in locked]
    return {
        **_FORM,
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, json.dumps([_OURS, components]))}",
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": _OURS,
                "name": "tocsin",
                "version": __version__,
                "purl": _OURS,
            }
        },
        "components": components,
        "dependencies": [{"ref": _OURS, "dependsOn": sorted(each["bom-ref"] for each in components)}],
    }


def _component(package: LockedPackage) -> dict[str, Any]:
    url = f"pkg:pypi/{package.name}@{package.version}"
    license_ = _license(package)
    return {
        "type": "library",
        "bom-ref": url,
        "name": package.name,
        "version": package.version,
        "purl": url,
        "scope": "optional" if package.marker else "required",
        "hashes": [{"alg": "SHA-256", "content": hash_} for hash_ in package.hashes],
        **({"licenses": [{"license": {"name": license_}}]} if license_ else {}),
    }


def _license(package: LockedPackage) -> str:
    """Its licence as its own metadata name it; empty where it is not installed."""
    try:
        said = metadata(package.name)
    except PackageNotFoundError:
        return ""
    text = next((said[name] for name in ("License-Expression", "License") if name in said), "")
    return text.strip().partition("\n")[0][:200]


def main() -> None:
    file = Path(sys.argv[1])
    file.parent.mkdir(parents=True, exist_ok=True)
    locked = packages(RUN)
    file.write_text(json.dumps(bill(locked), indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{file}: {len(locked)} packages\n")


if __name__ == "__main__":
    main()
