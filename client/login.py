"""``tocsin login`` and ``tocsin logout``: the service and the token that later commands use."""

import argparse
import getpass
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from client import profile
from client.api import Api
from client.output import write_line
from client.profile import Profile
from shared.command import begin_with
from shared.errors import BadSettings
from shared.setting_table import TABLE
from shared.settings import ClientSettings


def main(argv: list[str]) -> int:
    """Ask for a token, try it and store it with the address of its service."""
    parser = argparse.ArgumentParser(
        prog="tocsin login",
        usage="tocsin login --url URL [--token TOKEN]",
        epilog="Without --token, the token is asked for, or read from stdin.",
        allow_abbrev=False,
    )
    _, settings = begin_with(parser, ClientSettings, argv, _lacks)
    assert settings.url is not None  # noqa: S101 - _lacks has refused it
    token = settings.token or _ask()
    user = Api(settings.url, token).get("/me")
    file = profile.store(Profile(settings.url, token))
    write_line(f"Signed in to {settings.url} as {user['name']} ({user['role']}); stored in {file}")
    return 0


def log_out(argv: list[str]) -> int:
    """Forget the stored token; it stays valid until it expires or is revoked."""
    parser = argparse.ArgumentParser(prog="tocsin logout", usage="tocsin logout", allow_abbrev=False)
    begin_with(parser, ClientSettings, argv)
    write_line("Forgotten; revoke the token in the console" if profile.forget() else "Nobody was signed in")
    return 0


def _lacks(values: Mapping[str, Any]) -> Iterator[str]:
    if values.get("url", "unreadable") is None:
        yield "--url: is required, such as https://tocsin.example.com"


def _ask() -> str:
    """Read a token without showing it. Raises BadSettings if it cannot be one."""
    if sys.stdin.isatty():
        text = getpass.getpass("Token (of Settings, API tokens): ")
    else:
        text = sys.stdin.readline(1024)
    try:
        return str(TABLE["token"].read(text.strip()))
    except ValueError as error:
        raise BadSettings(f"the token {error}") from None
