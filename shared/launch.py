"""Executes a program that dies with its parent: ``launch.py PARENT SIGNAL AS PROGRAM``.

Run as a file of its own, by path and with ``-I -S``: little is safe between fork and exec in a program with
threads. AS is ``same``, ``user:UID:GID``, or ``mapped:UID:GID``: a user namespace where this user bears that
number, which needs no privileges and leaves all files in reach.
"""

import ctypes
import os
import sys
from typing import Final

_CLONE_NEWUSER: Final = 0x10000000
_PR_SET_PDEATHSIG: Final = 1


def main(argv: list[str]) -> None:
    """Apply the settings, then execute the program."""
    parent, number, way, *program = argv
    libc = ctypes.CDLL(None, use_errno=True)
    kind, *ids = way.split(":")
    if kind == "mapped":
        _map(libc, *ids)
    elif kind == "user":
        _drop(*map(int, ids))
    os.umask(0o077)
    # Last, because the kernel resets it when the user changes.
    _call(libc.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0), "prctl")
    if os.getppid() != int(parent):
        raise SystemExit("the parent has gone")
    os.execv(program[0], program)  # noqa: S606 - the purpose of this file


def _map(libc: ctypes.CDLL, uid: str, gid: str) -> None:
    outer_uid, outer_gid = os.geteuid(), os.getegid()
    _call(libc.unshare(_CLONE_NEWUSER), "unshare")
    for name, text in (
        ("uid_map", f"{uid} {outer_uid} 1"),
        ("setgroups", "deny"),
        ("gid_map", f"{gid} {outer_gid} 1"),
    ):
        file = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(file, text.encode())
        os.close(file)


def _drop(uid: int, gid: int) -> None:
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    os.chdir("/")


def _call(result: int, name: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main(sys.argv[1:])
