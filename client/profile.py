"""The service and the token that commands use: from settings, or as `tocsin login` stored them."""

import argparse
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from client.api import Api
from shared.command import begin_with
from shared.errors import BadSettings, CannotStart
from shared.settings import Check, ClientSettings

_PRIVATE: Final = 0o600


@dataclass(frozen=True, slots=True)
class Profile:
    """The address of a service and a token for it."""

    url: str
    token: str


def begin(
    parser: argparse.ArgumentParser, argv: Sequence[str], check: Check = lambda _: ()
) -> tuple[argparse.Namespace, Api]:
    """Read a command's arguments, and connect it. Raises BadSettings if no service is known."""
    own, settings = begin_with(parser, ClientSettings, list(argv), check)
    profile = known(settings)
    return own, Api(profile.url, profile.token)


def known(settings: ClientSettings) -> Profile:
    """Return the service of the settings, else the stored one; a stored token goes nowhere else."""
    if settings.url and settings.token:
        return Profile(settings.url, settings.token)
    stored = load()
    if stored is None or (settings.url and settings.url != stored.url):
        lacking = [f"TOCSIN_{name}" for name in ("URL", "TOKEN") if getattr(settings, name.lower()) is None]
        raise BadSettings(f"{' and '.join(lacking)}: required, or sign in once with tocsin login")
    return replace(stored, token=settings.token or stored.token)


def path() -> Path:
    """Return the file of the stored profile, in the user's folder of configuration."""
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "tocsin" / "login.json"


def load() -> Profile | None:
    """Return the stored profile; None without one. Raises CannotStart if it cannot be read."""
    file = path()
    try:
        content: Any = json.loads(file.read_text())
        return Profile(str(content["url"]), str(content["token"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        raise CannotStart(f"{file}: cannot be read; tocsin login writes it anew") from None


def store(profile: Profile) -> Path:
    """Store *profile* for its owner's eyes only, and return the file."""
    file = path()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(f"{file.name}.{os.getpid()}")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "w") as stream:
            json.dump({"url": profile.url, "token": profile.token}, stream)
        beside.replace(file)
    except OSError as error:
        raise CannotStart(f"{file}: cannot be written: {error.strerror}") from None
    return file


def forget() -> bool:
    """Delete the stored profile; return whether there was one."""
    with suppress(FileNotFoundError):
        path().unlink()
        return True
    return False
