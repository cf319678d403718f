"""What a new deployment finds: its token in a file, the way into the console, the demo's monitors."""

import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog

from collector import embedded_files as files
from collector.api.deps import Deps
from collector.services import bootstrap, monitors, password_links, tokens
from collector.services.bootstrap import Made
from collector.storage import teams
from collector.storage.db import Db
from shared.clock import utc_now
from shared.settings import CollectorSettings
from shared.tokens import new_token

log = structlog.get_logger()

TOKEN_FILE = "admin-token"  # noqa: S105 - a file's name

_GREETING = """
Tocsin is ready: {url}
Set up the console, once: {url}/setup/{secret}
The admin token is in {file}

Try:
  curl -H "Authorization: Bearer $(cat {file})" {url}/v1/me
  curl -H "Authorization: Bearer $(cat {file})" {url}/v1/monitors
  curl -H "Authorization: Bearer $(cat {file})" -d '{{"name": "example", "type": "http", "config": {{"url": "{url}/healthz"}}}}' {url}/v1/monitors
"""  # noqa: E501 - lines to copy


async def prepare(db: Db, settings: CollectorSettings) -> Made | None:
    """Make the first team, its admin and a token when the database is new; None when it is not.

    The token is in its file before the database knows it: a crash in between costs nobody the only copy.
    """
    async with db.connection() as connection:
        if await teams.exist(connection):
            return None
    path = settings.data_dir / TOKEN_FILE
    if settings.bootstrap_token:
        files.write_private(path, settings.bootstrap_token)
    token = settings.bootstrap_token or _kept(path)
    made = await bootstrap.bootstrap(
        db, plan=settings.plan, admin_email=settings.admin_email, token=token, now=utc_now()
    )
    # Another collector was faster; its token is ours when we share the directory, or both were given it.
    if made is None and await tokens.find(db, token, utc_now()) is None:
        path.unlink(missing_ok=True)
    return made


def _kept(path: Path) -> str:
    """The token in its file; of several processes that make one at the same time, all have the same."""
    if not path.exists():
        own = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
        files.write_private(own, new_token())
        with suppress(FileExistsError):
            path.hardlink_to(own)
        own.unlink()
        files.sync_dir(path.parent)
    return path.read_text().strip()


async def way_in(db: Db, made: Made) -> str:
    """The secret of the link by which the first admin alone sets up the console."""
    return await password_links.first(db, made.team_id, made.user_id, utc_now())


def greet(settings: CollectorSettings, secret: str) -> None:
    """Print where everything is, and what to try; *secret*: see `way_in`."""
    url = settings.public_url.rstrip("/")
    sys.stdout.write(_GREETING.format(url=url, secret=secret, file=settings.data_dir / TOKEN_FILE))
    sys.stdout.flush()


async def demonstrate(deps: Deps, settings: CollectorSettings, team_id: int) -> None:
    """Monitors of this deployment itself."""
    means = monitors.Means(deps.db, deps.keyring, deps.signals, deps.min_interval)
    for body in _demo(settings):
        await monitors.create(means, team_id, body, utc_now())
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
