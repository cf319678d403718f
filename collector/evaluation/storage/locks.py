"""Lock order and lock timeouts of the deciding transaction."""

from collections.abc import Sequence

from collector.platform.storage.db import Tx

_OTHER_JOINS = ("enable_hashjoin", "enable_mergejoin", "enable_seqscan", "enable_bitmapscan")


async def begin(tx: Tx) -> None:
    """Joins go by index until `in_any_order`: rows are locked in the order in which their keys are given.

    Else the planner, who knows how long the lists are, may scan a table, and two writers lock crosswise.
    """
    await tx.execute(
        "SET LOCAL idle_in_transaction_session_timeout = '5s'; "
        + "; ".join(f"SET LOCAL {setting} = off" for setting in _OTHER_JOINS)
    )


async def in_any_order(tx: Tx) -> None:
    """What comes now has its locks, and may have to join long lists with each other."""
    await tx.execute("; ".join(f"SET LOCAL {setting} TO DEFAULT" for setting in _OTHER_JOINS))


async def lock(tx: Tx, monitors: Sequence[int]) -> None:
    """Lock all that the transaction is to lock one part after the other: so all do it in key order."""
    await tx.execute(
        "SELECT FROM monitors WHERE monitor = ANY($1) ORDER BY monitor FOR NO KEY UPDATE", list(monitors)
    )
