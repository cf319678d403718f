"""Builds the two images with buildah and runs them with podman, in a store below var/: `make image-check`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PLACE: Final = ROOT / "var" / "images"
BASE: Final = "localhost/base:debian"
# crun wants more of a machine's control groups than a container has, and a bridge more of its network.
_CONFIGURATION: Final = """
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
netns = "host"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""


def run(program: str, *arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run podman or buildah over the store."""
    command = [program, "--root", PLACE / "store", "--runroot", PLACE / "run", *arguments]
    environment = os.environ | {"CONTAINERS_CONF": str(PLACE / "containers.conf")}
    return subprocess.run(command, env=environment, check=check, capture_output=True, text=True, timeout=900)


def main(base: str = "") -> None:
    """Build both images on *base*; without it, on a Debian that debootstrap makes."""
    PLACE.mkdir(parents=True, exist_ok=True)
    (PLACE / "containers.conf").write_text(_CONFIGURATION)
    if not base and run("podman", "image", "exists", BASE, check=False).returncode != 0:
        _debian()
    for target in ("probe", "tocsin"):
        run(
            "buildah", "bud", "--layers", "--isolation", "chroot", "--network", "host", "--format", "docker",
            "--build-arg", f"BASE={base or BASE}", "--target", target, "--tag", f"localhost/{target}:check",
            "--file", ROOT / "deploy" / "Containerfile", ROOT,
        )  # fmt: skip
        size = int(
            run("podman", "image", "inspect", "--format", "{{.Size}}", f"localhost/{target}:check").stdout
        )
        sys.stdout.write(f"{target}: {size / 1_000_000:.0f} MB\n")


def _debian() -> None:
    """What a registry's image of Python has, made of this machine's mirror."""
    root = PLACE / "debian"
    shutil.rmtree(root, ignore_errors=True)
    packages = "ca-certificates,python3-venv,binutils"
    subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={packages}", "bookworm", root],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    # What this machine trusts, for its package index.
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", root / "etc/ssl/certs/ca-certificates.crt")
    archive = PLACE / "debian.tar"
    subprocess.run(["tar", "-C", root, "-cf", archive, "."], check=True)
    run("podman", "import", "--quiet", archive, BASE)
    archive.unlink()
    shutil.rmtree(root)


if __name__ == "__main__":
    main(*sys.argv[1:])
