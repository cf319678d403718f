"""Error texts, each stored once while results refer to it by number."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from collector.platform.storage.db import Tx

# A text that was not noted for much longer is deleted.
NOTED_EVERY: Final = timedelta(hours=12)


async def intern(tx: Tx, texts: Sequence[str]) -> dict[str, int]:
    """Return the number of each text; unknown ones are added.

    The use of each text is noted; a caller that remembers numbers calls again after NOTED_EVERY.
    """
    found: dict[str, int] = {}
    # Another collector may add what is missing, or delete texts that were long unused, at the same time.
    while missed := [text for text in texts if text not in found]:
        rows = await tx.fetch(_INTERN, missed, NOTED_EVERY)
        found |= {row["text"]: row["error"] for row in rows}
    return found


_INTERN = """
    WITH wanted AS (SELECT DISTINCT text FROM unnest($1::text[]) AS text),
    added AS (
        INSERT INTO errors (text)
        SELECT text FROM wanted WHERE NOT EXISTS (SELECT FROM errors e WHERE e.text = wanted.text)
        ORDER BY text
        ON CONFLICT (text) DO NOTHING
        RETURNING error, text
    ), stale AS (
        SELECT e.error FROM errors e JOIN wanted USING (text) WHERE e.seen_at < now() - $2::interval
        ORDER BY e.error FOR NO KEY UPDATE OF e
    ), noted AS (
        UPDATE errors e SET seen_at = now() FROM stale WHERE e.error = stale.error RETURNING e.error, e.text
    )
    SELECT error, text FROM added
    UNION ALL
    SELECT error, text FROM noted
    UNION ALL
    SELECT e.error, e.text FROM errors e JOIN wanted USING (text) WHERE e.seen_at >= now() - $2::interval
"""
