"""The PostgreSQL pool: it finds the primary; a lost database becomes Unavailable here."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar, cast

import asyncpg
import orjson

from collector.platform.storage.connector import (
    AWAY,
    LOST,
    PATIENCE_S,
    Connection,
    connect,
    give_up_after,
    patient,
    unavailable,
)
from collector.platform.storage.liveness import PoolActivity
from collector.platform.storage.on_commit import Aftermath, collected
from shared.errors import CannotStart, Conflict, Unavailable
from shared.fair_gate import Crowded, FairGate
from shared.held import demand_none, holding

if TYPE_CHECKING:
    Tx: TypeAlias = asyncpg.pool.PoolConnectionProxy[asyncpg.Record] | Connection
else:  # not generic at runtime
    Tx = asyncpg.pool.PoolConnectionProxy | asyncpg.Connection

OLDEST: Final = 15
_ACQUIRE_S: Final = 10.0
_STATEMENT_S: Final = 60.0
# Longer than the liveness watch takes: for connections that nobody waits on.
_TAKES_IN_NOTHING_S: Final = 20
# Raised by migrations for statements that a plan does not allow; the message is for the caller.
_ABOVE_A_LIMIT: Final = "TC409"
_SETTINGS: Final = {
    "timezone": "UTC",
    "idle_in_transaction_session_timeout": "60s",
    "statement_timeout": "60s",
    "lock_timeout": "30s",
    "jit": "off",  # compiling takes longer than any of our queries
    # Keepalives: idle connections stay open in firewalls, and dead peers are detected.
    "tcp_keepalives_idle": "60",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
# Limits of a share's queue: a burst of everything that a team's plan admits, and some more.
_WAITING: Final = 10_000
_WAITING_EACH: Final = 4_000
_ASKER: Final[ContextVar[Hashable]] = ContextVar("asker", default=None)
_SINCE_17: Final = {"transaction_timeout": "120s"}  # longer than a statement's


class ProcessCache(Protocol):
    """What a process keeps of a database, such as a cache with a connection."""

    async def close(self) -> None:
        """Return its connections."""


KeptT = TypeVar("KeptT", bound=ProcessCache)


class Connections(Protocol):
    """Where a database's connections come from: a pool, or an open transaction."""

    def acquire(self, *, timeout: float) -> Awaitable[Tx]:
        """Return a connection, to be released."""

    async def release(self, connection: Any) -> None:
        """Take the connection back."""

    async def expire_connections(self) -> None:
        """Replace connections that are not in use before they are used again."""

    async def close(self) -> None:
        """Wait for connections in use, and close all."""

    def terminate(self) -> None:
        """Close all connections at once."""


class Db:
    """The database at the primary, by a pool of connections; see `UnitOfWork` for the other kind.

    *pass_on* is called after each commit that appended events or queued deliveries. *nested*: it is a
    `UnitOfWork`. *quick* serves look-ups that many callers wait for.
    """

    def __init__(
        self,
        pool: Connections,
        *,
        nested: bool = False,
        gate: FairGate | None = None,
        whole: "Db | None" = None,
        activity: PoolActivity | None = None,
    ) -> None:
        self._pool = pool
        self._gate = gate
        self._whole = whole or self
        self.activity: Final = activity or PoolActivity()
        self._pass_on: Callable[[Aftermath], None] = _to_nobody
        self.nested = nested
        self.quick: Db = self
        self._kept: dict[Callable[[Db], ProcessCache], ProcessCache] = {}

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        size: int = 8,
        name: str = "tocsin",
        kept: bool = False,
        within_s: float = PATIENCE_S,
        settings: Mapping[str, str] | None = None,
    ) -> "Db":
        """Connect, waiting for a starting server. Raises Unavailable; CannotStart for an old version.

        *kept*: connections are not closed when idle. *settings*: of PostgreSQL, for each connection.
        """
        first = await patient(url, name, within_s=within_s)
        major = first.get_server_version().major
        await first.close()
        if major < OLDEST:
            raise CannotStart(f"PostgreSQL {OLDEST} or newer is needed; TOCSIN_DATABASE_URL leads to {major}")
        own = {
            **_SETTINGS,
            **(_SINCE_17 if major >= 17 else {}),
            **(settings or {}),
            "application_name": name,
        }

        activity = PoolActivity()

        async def dial(*_: object, **kwargs: Any) -> Connection:
            connection = await connect(url, server_settings=own, **kwargs)
            give_up_after(connection, _TAKES_IN_NOTHING_S)
            activity.add(connection)
            return connection

        pool = await asyncpg.create_pool(
            connect=dial,
            init=_teach,
            reset=_keep,
            min_size=0,
            max_size=size,
            command_timeout=_STATEMENT_S,
            max_inactive_connection_lifetime=0 if kept else 300,
        )
        return cls(pool, activity=activity)

    def share(self, most: int, *, each: int | None = None) -> "Db":
        """The same database, limited to *most* connections in total and *each* per asker (see `asking`)."""
        gate = FairGate(most, each or most, waiting=_WAITING, waiting_each=_WAITING_EACH)
        return Db(self._pool, gate=gate, whole=self, activity=self.activity)

    @property
    def pass_on(self) -> Callable[[Aftermath], None]:
        return self._whole._pass_on  # noqa: SLF001 - of its own kind

    @pass_on.setter
    def pass_on(self, pass_on: Callable[[Aftermath], None]) -> None:
        self._whole._pass_on = pass_on  # noqa: SLF001 - likewise

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        """A READ COMMITTED transaction; in a `UnitOfWork` a savepoint.

        Raises Unavailable if the database is or becomes unreachable.
        """
        async with self.connection() as connection:
            with collected(connection) as left:
                async with connection.transaction():
                    yield connection
        if left:
            self.pass_on(left)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Tx]:
        """An autocommit connection, for reads. Raises Unavailable like `transaction`."""
        if not self.nested:
            demand_none("asking for a connection")
        asker = _ASKER.get()
        await self._enter(asker)
        interruptions = self.activity.interruptions
        try:
            connection = await self._acquire(interruptions)
        except BaseException:
            self._leave(asker)
            raise
        try:
            with holding():
                async with self.activity.block():
                    yield connection
        except LOST as error:
            raise unavailable() from error
        except asyncpg.ReadOnlySQLTransactionError as error:
            # The former primary is now a standby.
            await self._pool.expire_connections()
            raise unavailable() from error
        except asyncpg.InterfaceError as error:
            # The driver has no better word for a statement on a connection that `interrupt` closed.
            if _gone(connection):
                raise unavailable() from error
            raise
        except asyncpg.InternalClientError as error:
            # The server closed the connection between two statements, and the driver would wait forever.
            connection.terminate()
            raise unavailable() from error
        except asyncpg.PostgresError as error:
            if error.sqlstate == _ABOVE_A_LIMIT:
                raise Conflict(error.message) from error
            raise
        finally:
            try:
                await self._release(connection, interruptions)
            finally:
                self._leave(asker)

    def kept(self, make: "Callable[[Db], KeptT]") -> KeptT:
        """Return what *make* made of this database, once; it is closed by `let_go`."""
        if make not in self._kept:
            self._kept[make] = make(self)
        return cast("KeptT", self._kept[make])

    async def let_go(self) -> None:
        """Close and drop all that is kept of this database."""
        while self._kept:
            await self._kept.popitem()[1].close()

    async def close(self) -> None:
        """Let running work finish for a moment, then close all connections."""
        try:
            async with asyncio.timeout(3.0):
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()

    async def _enter(self, asker: Hashable) -> None:
        if self._gate is None or self._gate.enter_at_once(asker):
            return
        try:
            async with asyncio.timeout(_ACQUIRE_S):
                await self._gate.enter(asker)
        except (TimeoutError, Crowded) as error:
            raise Unavailable("too many requests wait for the database", retry_after=1) from error

    def _leave(self, asker: Hashable) -> None:
        if self._gate is not None:
            self._gate.leave(asker)

    async def _acquire(self, interruptions: int) -> Tx:
        try:
            return await self._pool.acquire(timeout=_ACQUIRE_S)
        except AWAY as error:
            raise unavailable() from error
        except (asyncpg.InterfaceError, AttributeError) as error:
            # As above, of a connection that is being prepared.
            if self.activity.interruptions != interruptions:
                raise unavailable() from error
            raise

    async def _release(self, connection: Tx, interruptions: int) -> None:
        try:
            await self._pool.release(connection)
        except (asyncpg.InterfaceError, asyncpg.InternalClientError):
            # To be closed returned it to the pool meanwhile.
            if self.activity.interruptions == interruptions:
                raise


@contextmanager
def asking(asker: Hashable) -> Iterator[None]:
    """Attribute the block's connections to *asker*, for the limit per asker."""
    before = _ASKER.get()
    _ASKER.set(asker)
    try:
        yield
    finally:
        _ASKER.set(before)


def _to_nobody(_: Aftermath) -> None:
    """The default for a database without listeners."""


def _gone(connection: Tx) -> bool:
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:  # already returned to the pool
        return True


async def _teach(connection: Tx) -> None:
    """Register JSON codecs in the binary format that COPY needs; jsonb's begins with a version byte."""
    await connection.set_type_codec(
        "json", encoder=orjson.dumps, decoder=orjson.loads, schema="pg_catalog", format="binary"
    )
    await connection.set_type_codec(
        "jsonb", encoder=_jsonb, decoder=_from_jsonb, schema="pg_catalog", format="binary"
    )


def _jsonb(value: object) -> bytes:
    return b"\x01" + orjson.dumps(value)


def _from_jsonb(data: bytes) -> Any:
    return orjson.loads(memoryview(data)[1:])


async def _keep(_: Tx) -> None:
    """Skip the pool's reset, which would cost a round trip: settings are transaction-local."""
