"""What a new deployment creates: the token's file, the set-up link and the demo's monitors."""

import secrets
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

import structlog

from collector import bootstrap
from collector.accounts.service import password_links, tokens
from collector.accounts.storage import teams, users
from collector.accounts.storage.password_links import LinkKind
from collector.bootstrap import FirstStart
from collector.http.context import Context
from collector.monitors.service import creation
from collector.platform.access import Actor
from collector.platform.embedded import files
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage import database_time
from collector.platform.storage.db import Db
from shared import ids
from shared.clock import UtcClock
from shared.errors import NotFound
from shared.setting_table import DEMO_WORLD
from shared.settings import CollectorSettings
from shared.tokens import new_token

log = structlog.get_logger()

TOKEN_FILE = "admin-token"  # noqa: S105 - a file's name

LINK_FILE = "setup-link"

_TRY = """
Try:
  curl -H "Authorization: Bearer $(cat {file})" {url}/v1/me
  curl -H "Authorization: Bearer $(cat {file})" {url}/v1/monitors
  curl -H "Authorization: Bearer $(cat {file})" -d '{{"name": "example", "type": "http", "config": {{"url": "{url}/healthz"}}}}' {url}/v1/monitors
"""  # noqa: E501 - lines to copy


@dataclass(frozen=True, slots=True)
class SetupLink:
    """How the first admin gets into the console: by *link*, which is also stored in *file*.

    Without a link, the console is not set up, but a link created elsewhere is still valid.
    """

    link: str | None
    file: Path


async def prepare(db: Db, settings: CollectorSettings) -> FirstStart | None:
    """Create the first team, its admin and a token if the database is new; None if it is not.

    The token is written to its file before the database, so a crash in between loses nothing.
    """
    async with db.connection() as connection:
        if await teams.exist(connection):
            return None
    path = settings.data_dir / TOKEN_FILE
    if settings.bootstrap_token:
        files.write_private(path, settings.bootstrap_token)
    token = settings.bootstrap_token or _kept(path)
    now = await database_time.of(db)
    made = await bootstrap.bootstrap(
        db, plan=settings.plan, admin_email=settings.admin_email, token=token, now=now
    )
    # Another collector was faster; its token is ours if we share the directory, or both were given it.
    if made is None and await tokens.find(db, token, now) is None:
        path.unlink(missing_ok=True)
    return made


def _kept(path: Path) -> str:
    """The token in its file; concurrent processes that create one get the same."""
    if not path.exists():
        own = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
        files.write_private(own, new_token())
        with suppress(FileExistsError):
            path.hardlink_to(own)
        own.unlink()
        files.sync_dir(path.parent)
    return path.read_text().strip()


async def way_in(db: Db, settings: CollectorSettings, now: datetime) -> SetupLink | None:
    """The link to set up the console, renewed if it expired; None once the console is set up."""
    file = settings.data_dir / LINK_FILE
    async with db.connection() as connection:
        newcomer = await users.newcomer(connection)
    if newcomer is None:
        return None
    if (kept := _kept_link(file)) and await _opens(db, kept, now):
        return SetupLink(kept, file)
    secret = secrets.token_urlsafe(32)
    link = f"{settings.public_url.rstrip('/')}/setup/{secret}"
    # As with the token: written to its file before the database.
    files.write_private(file, link)
    if await password_links.first_unless_open(db, newcomer, secret, now):
        return SetupLink(link, file)
    file.unlink(missing_ok=True)
    return SetupLink(None, file)


class LinkFile:
    """Deletes the file of the set-up link once the link is used or expired."""

    def __init__(self, db: Db, data_dir: Path, now: UtcClock) -> None:
        self._db = db
        self._path = data_dir / LINK_FILE
        self._now = now

    async def turn(self) -> bool:
        """Check the link once."""
        kept = _kept_link(self._path)
        if kept and not await _opens(self._db, kept, self._now()):
            self._path.unlink(missing_ok=True)
        return False


def link_file(
    db: Db, settings: CollectorSettings, now: UtcClock
) -> tuple[str, Callable[[], Awaitable[bool]], float, None]:
    """The loop that maintains the set-up link's file."""
    return "set-up link", LinkFile(db, settings.data_dir, now).turn, 2.0, None


def greet(settings: CollectorSettings, way: SetupLink | None, out: TextIO, *, first: bool) -> None:
    """Print where everything is and, at the *first* start, what to try.

    The link is shown only on a terminal: other output is stored and read by others.
    """
    url, token = settings.public_url.rstrip("/"), settings.data_dir / TOKEN_FILE
    lines = ["", f"Tocsin is ready: {url}"]
    if way is not None:
        lines.append(_announced(way, to_people=out.isatty()))
    if token.exists():
        lines.append(f"The admin token is in {shlex.quote(str(token))}")
    out.write("\n".join([*lines, ""]))
    out.write(_TRY.format(url=url, file=shlex.quote(str(token))) if first else "\n")
    out.flush()


def _announced(way: SetupLink, *, to_people: bool) -> str:
    if way.link is None:
        return "Nobody has set up the console yet: tocsin user setup-link prints a link to do so"
    if to_people:
        return f"Set up the console, once: {way.link}"
    return f"Set up the console, once: by the link in {shlex.quote(str(way.file))}"


def _kept_link(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


async def _opens(db: Db, link: str, now: datetime) -> bool:
    """Whether *link* is a valid link to set up the console."""
    try:
        await password_links.find(db, LinkKind.FIRST, link.rpartition("/")[2], now)
    except NotFound:
        return False
    return True


async def fill_world(
    db: Db, keyring: Keyring, settings: CollectorSettings, made: FirstStart, now: datetime
) -> None:
    """Fill the new team with monitors, months of history, incidents and status pages."""
    from collector.demo.fill import fill  # noqa: PLC0415 - as below
    from collector.demo.team import DemoTarget  # noqa: PLC0415 - as below

    log.info("filling the demonstration, which takes up to a minute")
    admin = Actor(made.team_id, ids.show("usr", made.user_id), "Admin")
    base_url = f"http://{settings.http_listen}"
    await fill(DemoTarget(db, keyring, Signals(db), made.team_id, admin, base_url), now)


def live_world(
    db: Db, settings: CollectorSettings, now: UtcClock
) -> Sequence[tuple[str, Callable[[], Awaitable[bool]], float, None]]:
    """The loop that reports for the probes of the demonstration, where it is wanted."""
    if settings.demo != DEMO_WORLD:
        return ()
    from collector.demo.live import LiveWorld  # noqa: PLC0415 - only a demonstration needs it

    return (("demonstration", LiveWorld(db, now=now).turn, 3.0, None),)


async def demonstrate(context: Context, settings: CollectorSettings, team_id: int) -> None:
    """Create monitors of this deployment itself."""
    for body in _demo(settings):
        await creation.create(context, team_id, body, context.now())
    log.info("demo monitors made")


def _demo(settings: CollectorSettings) -> list[Mapping[str, Any]]:
    url = f"http://{settings.http_listen}"
    host, _, port = settings.grpc_listen.rpartition(":")
    return [
        {"name": "Tocsin is alive", "type": "http", "interval": 10, "config": {"url": f"{url}/healthz"}},
        {
            "name": "Tocsin reaches its database",
            "type": "http",
            "interval": 10,
            "config": {"url": f"{url}/readyz"},
        },
        {
            "name": "Tocsin takes probes",
            "type": "tcp",
            "interval": 10,
            "config": {"host": host, "port": int(port)},
        },
    ]
