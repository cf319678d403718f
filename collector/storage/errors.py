"""Error texts, each kept once: results carry its number."""

from collections.abc import Sequence

from collector.storage.db import Tx


async def intern(tx: Tx, texts: Sequence[str]) -> dict[str, int]:
    """The number of each text; unknown ones are added. Run it outside of the transaction that uses it."""
    rows = await tx.fetch(
        """
        WITH wanted AS (SELECT DISTINCT text FROM unnest($1::text[]) AS text),
        added AS (
            INSERT INTO errors (text)
            SELECT text FROM wanted WHERE NOT EXISTS (SELECT FROM errors e WHERE e.text = wanted.text)
            ORDER BY text
            ON CONFLICT (text) DO NOTHING
            RETURNING error, text
        )
        SELECT error, text FROM added
        UNION ALL
        SELECT e.error, e.text FROM errors e JOIN wanted USING (text)
        """,
        list(texts),
    )
    found = {row["text"]: row["error"] for row in rows}
    missed = [text for text in texts if text not in found]
    return found | await _known(tx, missed) if missed else found


async def _known(tx: Tx, texts: Sequence[str]) -> dict[str, int]:
    """Texts that another collector added while `intern` looked."""
    rows = await tx.fetch("SELECT error, text FROM errors WHERE text = ANY($1)", list(texts))
    return {row["text"]: row["error"] for row in rows}
