"""``tocsin migrate``: migrates the database to this version and reports the steps."""

from collector.platform.embedded.server import reach
from collector.platform.interruptible import run
from collector.platform.storage.connector import BRIEFLY_S
from collector.platform.storage.migrate import migrate
from shared.clock import utc_now
from shared.command import begin
from shared.settings import DatabaseSettings


def main(argv: list[str]) -> int:
    """Migrate the configured database; an embedded one runs for the duration."""
    done = run(_migrate(begin("migrate", DatabaseSettings, argv)))
    for name in done:
        print(f"applied {name}")  # noqa: T201 - the answer
    if not done:
        print("the database is up to date")  # noqa: T201 - the answer
    return 0


async def _migrate(settings: DatabaseSettings) -> list[str]:
    if settings.database_url is not None:
        return await migrate(settings.database_url, utc_now(), within_s=BRIEFLY_S)
    async with reach(settings.data_dir) as url:
        return await migrate(url, utc_now())
