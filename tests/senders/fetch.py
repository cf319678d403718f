"""Fetches real senders of metrics, which are too big for every run: ``python -m tests.senders.fetch``.

Debian's own ``prometheus`` and ``vmagent``, the newest ones that Debian has, and the OpenTelemetry SDK for
Node. Nothing is installed: all of it lies below ``var/senders``.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

PLACE: Final = Path(__file__).parents[2] / "var" / "senders"
_PACKAGES: Final = (
    "@grpc/grpc-js",
    "@opentelemetry/api",
    "@opentelemetry/exporter-metrics-otlp-grpc",
    "@opentelemetry/exporter-metrics-otlp-http",
    "@opentelemetry/exporter-metrics-otlp-proto",
    "@opentelemetry/resources",
    "@opentelemetry/sdk-metrics",
)
_SOURCES: Final = Path("/etc/apt")
_KEYS: Final = "/usr/share/keyrings/debian-archive-keyring.gpg"


def main() -> int:
    """Reports what cannot be fetched; the tests that need it are skipped then."""
    got = [_get(name, fetch) for name, fetch in _FETCHES.items()]
    return 0 if all(got) else 1


def _get(name: str, fetch: Callable[[Path], None]) -> bool:
    place = PLACE / name
    done = place / "done"
    if done.exists():
        return True
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    try:
        fetch(place)
    except (LookupError, OSError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"{name}: cannot be had: {error}\n")
        return False
    done.touch()
    return True


def _stable(place: Path) -> None:
    """As this machine's Debian has them."""
    _unpack(place, ["prometheus", "victoria-metrics"])


def _newest(place: Path) -> None:
    """From Debian's next release, by lists of our own: what comes and goes there is no dependency of ours."""
    (place / "lists" / "partial").mkdir(parents=True)
    (place / "sources.list").write_text(f"deb [signed-by={_KEYS}] {_mirror()} sid main\n")
    options = {
        "Dir::Etc::SourceList": place / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": place / "lists",
        "Dir::State::status": "/dev/null",
        "Dir::Cache": place / "cache",
        "Acquire::Languages": "none",
    }
    flags = [f"-o{name}={value}" for name, value in options.items()]
    _run(place, ["apt-get", "--quiet", *flags, "update"])
    _unpack(place, ["prometheus", "victoria-metrics"], flags)


def _node(place: Path) -> None:
    _run(place, ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(place), *_PACKAGES])


_FETCHES: Final[Mapping[str, Callable[[Path], None]]] = {"stable": _stable, "newest": _newest, "node": _node}


def _mirror() -> str:
    """Where this machine has its Debian packages from."""
    for file in sorted(_SOURCES.glob("sources.list.d/*.sources")):
        for line in file.read_text().splitlines():
            if line.startswith("URIs:"):
                return line.split()[1]
    raise LookupError("no sources of packages in the present form below /etc/apt")


def _unpack(place: Path, packages: Sequence[str], flags: Sequence[str] = ()) -> None:
    _run(place, ["apt-get", "--quiet", *flags, "download", *packages])
    for file in place.glob("*.deb"):
        _run(place, ["dpkg-deb", "--extract", str(file), str(place)])


def _run(place: Path, command: Sequence[str]) -> None:
    subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
