"""The bill of materials of a virtual environment, in CycloneDX: ``sbom.py DIRECTORY``, to standard output.

As the packages' own metadata name them; the same packages give the same text, byte for byte.
"""

import json
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5


def bill(directory: Path) -> dict[str, Any]:
    """The bill of materials, in CycloneDX 1.6."""
    paths = [str(path) for path in directory.glob("lib/python*/site-packages")]
    components = sorted(map(component, distributions(path=paths)), key=lambda each: each["purl"])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, json.dumps(components))}",
        "components": components,
    }


def component(package: Distribution) -> dict[str, Any]:
    name, about = package.metadata["Name"], package.metadata
    license_ = about.get("License-Expression") or about.get("License") or ""
    first = license_.strip().partition("\n")[0][:200]
    return {
        "type": "library",
        "bom-ref": (url := f"pkg:pypi/{name.lower().replace('_', '-')}@{package.version}"),
        "name": name,
        "version": package.version,
        "purl": url,
        **({"licenses": [{"license": {"name": first}}]} if first else {}),
    }


if __name__ == "__main__":
    json.dump(bill(Path(sys.argv[1])), sys.stdout, indent=1)
