"""What the handlers are given, by hand, from app.py."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from aiohttp import web

from collector.channels.transport import Transport
from collector.core.seal import Keyring
from collector.services.following import Following
from collector.services.signals import Signals
from collector.storage.db import Db


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """*public_url* has no slash at its end; *min_interval* is in seconds."""

    db: Db
    keyring: Keyring
    signals: Signals
    following: Following
    transport: Transport
    public_url: str
    min_interval: int
    now: Callable[[], datetime]


DEPS: web.AppKey[Deps] = web.AppKey("deps", Deps)


def deps(request: web.Request) -> Deps:
    """What this application was made with."""
    return request.app[DEPS]
