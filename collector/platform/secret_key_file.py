"""The secret key's file in the data directory, created only for a new database."""

from pathlib import Path
from typing import Final

from collector.platform.embedded import files
from collector.platform.storage import secret_keys
from collector.platform.storage.connector import patient
from shared.errors import CannotStart
from shared.tokens import new_key

_FILE: Final = "secret-key"


def path(data_dir: Path) -> Path:
    return data_dir / _FILE


async def kept(url: str, data_dir: Path) -> str:
    """The key from its file, created if the database at *url* is new. Raises CannotStart if it is not."""
    file = path(data_dir)
    if not file.exists():
        connection = await patient(url, "tocsin")
        try:
            used = await secret_keys.used(connection)
        finally:
            await connection.close()
        if used:
            raise CannotStart(
                f"this database is encrypted with key {', '.join(used)}, and there is no {file}: "
                "put the key into that file, or into TOCSIN_SECRET_KEY"
            )
    return files.kept(file, new_key)
