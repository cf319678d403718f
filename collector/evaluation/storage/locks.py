"""Lock order and lock timeouts of the deciding transaction."""

from collections.abc import Mapping, Sequence
from typing import Final

from collector.platform.storage.db import Tx

_OTHER_JOINS = ("enable_hashjoin", "enable_mergejoin", "enable_seqscan", "enable_bitmapscan")
# What `begin` sets, for connections on which each statement is a transaction of its own.
INDEX_JOINS: Final[Mapping[str, str]] = dict.fromkeys(_OTHER_JOINS, "off")


async def begin(tx: Tx) -> None:
    """Force index joins until `in_any_order`, so that rows are locked in the order of the given keys.

    Else the planner, which knows how long the lists are, may scan a table, and two writers deadlock.
    """
    await tx.execute(
        "SET LOCAL idle_in_transaction_session_timeout = '5s'; "
        + "; ".join(f"SET LOCAL {setting} = off" for setting in _OTHER_JOINS)
    )


async def in_any_order(tx: Tx) -> None:
    """Allow all joins again: what follows holds its locks, and may have to join long lists."""
    await tx.execute("; ".join(f"SET LOCAL {setting} TO DEFAULT" for setting in _OTHER_JOINS))


async def lock(tx: Tx, monitors: Sequence[int]) -> None:
    """Lock in key order all monitors that the transaction would else lock in several steps."""
    await tx.execute(
        "SELECT FROM monitors WHERE monitor = ANY($1) ORDER BY monitor FOR NO KEY UPDATE", list(monitors)
    )
