"""Copies what a program in a virtual environment needs into an empty root: ``rootfs.py DIRECTORY ROOT``.

The interpreter, its library, the shared libraries that any of them is linked to, a shell, the authorities
that are trusted, and the names of users. No package manager and no other program is in the root.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

# Of the interpreter's library: tests, and what draws windows or installs packages.
LEFT_OUT = shutil.ignore_patterns(
    "__pycache__", "config-*", "dist-packages", "ensurepip", "idlelib", "lib2to3", "pydoc_data",
    "site-packages", "test", "tests", "tkinter", "turtle*", "venv", "_tkinter*", "_test*", "_ctypes_test*",
    "xx*",
)  # fmt: skip
FILES = (
    "/bin/sh", "/bin/cat", "/bin/ls", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/nsswitch.conf", "/etc/os-release", "/usr/lib/os-release", "/etc/debian_version",
    "/etc/ssl/certs/ca-certificates.crt",
)  # fmt: skip
# The program's user; and one for a container that root runs, where PostgreSQL needs a user that is not root.
USERS = "root:x:0:0::/:/bin/sh\ntocsin:x:10001:10001::/data:/bin/sh\n"
GROUPS = "root:x:0:\ntocsin:x:10001:\n"
_LINKED = re.compile(r"(?:=> )?(/\S+) \(0x")


def main(directory: Path, root: Path) -> None:
    """Fill *root*, which must be empty."""
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if Path("/", name).is_symlink():
            (root / "usr" / name).mkdir(parents=True, exist_ok=True)
            (root / name).symlink_to(f"usr/{name}")
    shutil.copytree(directory, inside(root, directory), symlinks=True)
    standard = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(standard, inside(root, standard), ignore=LEFT_OUT, symlinks=True)
    for file in FILES:
        copy(root, Path(file))
    for link in interpreters(directory / "bin" / "python"):
        copy(root, link)
    for library in sorted(libraries(root)):
        copy(root, library)
    compiled = [sys.executable, "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash"]
    subprocess.run([*compiled, "-s", str(root), "-p", "/", str(inside(root, standard))], check=True)
    (root / "etc" / "passwd").write_text(USERS)
    (root / "etc" / "group").write_text(GROUPS)
    for name, mode in (("tmp", 0o1777), ("data", 0o700), ("proc", 0o555), ("dev", 0o755), ("sys", 0o555)):
        (root / name).mkdir()
        (root / name).chmod(mode)
    os.chown(root / "data", 10001, 10001)


def inside(root: Path, path: Path) -> Path:
    return root / path.relative_to("/")


def copy(root: Path, path: Path) -> None:
    """Copy a file or a directory to its place, and where it is a link, also what that leads to."""
    to = inside(root, path)
    if to.exists() or to.is_symlink() or not path.exists():
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        to.symlink_to(path.readlink())
        copy(root, path.parent.resolve() / path.readlink())
    elif path.is_dir():
        shutil.copytree(path, to, symlinks=True)
    else:
        shutil.copy2(path, to)


def interpreters(python: Path) -> Iterator[Path]:
    """The interpreter of the environment: the links outside of it that lead there, and its file."""
    while python.is_symlink():
        python = python.parent / python.readlink()
        yield python


def libraries(root: Path) -> set[Path]:
    """The shared libraries of this system that the machine code in *root* is linked to."""
    code = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink() and is_code(path)]
    # The C library loads it itself when a thread is cancelled.
    linked = set(Path("/usr/lib").rglob("libgcc_s.so.1"))
    for path in code:
        listed = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False).stdout
        linked.update(map(Path, _LINKED.findall(listed)))
    return {path for path in linked if not path.is_relative_to(root)}


def is_code(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
