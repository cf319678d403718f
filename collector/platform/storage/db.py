"""The PostgreSQL pool: it finds the primary; a lost database becomes Unavailable here."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar, cast
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg
import orjson
import structlog

from collector.platform.storage.on_commit import Aftermath, collected
from shared.backoff import full_jitter
from shared.errors import CannotStart, Conflict, Unavailable
from shared.fair_gate import Crowded, FairGate
from shared.held import demand_none, holding

log = structlog.get_logger()

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]
    Tx: TypeAlias = asyncpg.pool.PoolConnectionProxy[asyncpg.Record] | Connection
else:  # not generic at runtime
    Connection = asyncpg.Connection
    Tx = asyncpg.pool.PoolConnectionProxy | asyncpg.Connection

OLDEST: Final = 15
_CONNECT_S: Final = 5.0
_ACQUIRE_S: Final = 10.0
_STATEMENT_S: Final = 60.0
PATIENCE_S: Final = 60.0  # for the first connection
BRIEFLY_S: Final = 5.0  # likewise, for an interactive command
# Raised by migrations for statements that a plan does not allow; the message is for the caller.
_ABOVE_A_LIMIT: Final = "TC409"
_LOST: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
)
_AWAY: Final = (
    *_LOST,
    OSError,
    asyncpg.TooManyConnectionsError,
    asyncpg.exceptions.TargetServerAttributeNotMatched,  # a standby, while there is no primary
)
_REFUSED: Final = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.ClientConfigurationError,
)
_SETTINGS: Final = {
    "timezone": "UTC",
    "idle_in_transaction_session_timeout": "60s",
    "statement_timeout": "60s",
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
    ) -> None:
        self._pool = pool
        self._gate = gate
        self._whole = whole or self
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

        async def dial(*_: object, **kwargs: Any) -> Connection:
            return await connect(url, server_settings=own, **kwargs)

        pool = await asyncpg.create_pool(
            connect=dial,
            init=_teach,
            reset=_keep,
            min_size=0,
            max_size=size,
            command_timeout=_STATEMENT_S,
            max_inactive_connection_lifetime=0 if kept else 300,
        )
        return cls(pool)

    def share(self, most: int, *, each: int | None = None) -> "Db":
        """The same database, limited to *most* connections in total and *each* per asker (see `asking`)."""
        gate = FairGate(most, each or most, waiting=_WAITING, waiting_each=_WAITING_EACH)
        return Db(self._pool, gate=gate, whole=self)

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
        try:
            connection = await self._acquire()
        except BaseException:
            self._leave(asker)
            raise
        try:
            with holding():
                yield connection
        except _LOST as error:
            raise _unavailable() from error
        except asyncpg.ReadOnlySQLTransactionError as error:
            # The former primary is now a standby.
            await self._pool.expire_connections()
            raise _unavailable() from error
        except asyncpg.InterfaceError as error:
            if _gone(connection):
                raise _unavailable() from error
            raise
        except asyncpg.InternalClientError as error:
            # The server closed the connection between two statements, and the driver would wait forever.
            connection.terminate()
            raise _unavailable() from error
        except asyncpg.PostgresError as error:
            if error.sqlstate == _ABOVE_A_LIMIT:
                raise Conflict(error.message) from error
            raise
        finally:
            try:
                await self._pool.release(connection)
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

    async def _acquire(self) -> Tx:
        try:
            return await self._pool.acquire(timeout=_ACQUIRE_S)
        except _AWAY as error:
            raise _unavailable() from error


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


async def connect(url: str, **kwargs: Any) -> Connection:
    """Connect to the primary among the hosts in *url*, whichever accepts first.

    asyncpg tries hosts one after the other and waits for hanging ones; this tries them concurrently.
    """
    tries = [asyncio.create_task(_one(each, kwargs)) for each in hosts(url)]
    winner: Connection | None = None
    failures: list[BaseException] = []
    try:
        for done in asyncio.as_completed(tries):
            try:
                winner = await done
            except (*_AWAY, *_REFUSED, asyncpg.PostgresError) as error:
                failures.append(error)
            else:
                return winner
    finally:
        await _abandon(tries, winner)
    raise failures[0]


def hosts(url: str) -> list[str]:
    """One URL for each host in *url*, in its authority or as `host=` in its query."""
    parts = urlsplit(url)
    query = parse_qsl(parts.query)
    named = dict(query)
    login, at, authority = parts.netloc.rpartition("@")
    if "," in authority:
        return [urlunsplit(parts._replace(netloc=f"{login}{at}{each}")) for each in authority.split(",")]
    names = named.get("host", "").split(",")
    if len(names) == 1:
        return [url]
    ports = named.get("port", "").split(",")
    each_port = ports if len(ports) == len(names) else ports[:1] * len(names)
    rest = [(key, value) for key, value in query if key not in {"host", "port"}]
    return [
        urlunsplit(
            parts._replace(query=urlencode([*rest, ("host", name), *([("port", port)] if port else [])]))
        )
        for name, port in zip(names, each_port, strict=True)
    ]


async def _one(url: str, kwargs: dict[str, Any]) -> Connection:
    connection: Connection = await asyncpg.connect(
        url, **{"timeout": _CONNECT_S, "target_session_attrs": "read-write", **kwargs}
    )
    return connection


async def _abandon(tries: "list[asyncio.Task[Connection]]", winner: Connection | None) -> None:
    """Close connections that were established too late."""
    for each in tries:
        each.cancel()
    for result in await asyncio.gather(*tries, return_exceptions=True):
        if isinstance(result, asyncpg.Connection) and result is not winner:
            result.terminate()


async def patient(url: str, name: str, *, within_s: float = PATIENCE_S) -> Connection:
    """Connect, retrying for a while. Raises Unavailable; CannotStart if retrying cannot help."""
    reasons: list[str] = []
    try:
        async with asyncio.timeout(within_s):
            return await _insist(url, name, reasons)
    except TimeoutError as error:
        raise Unavailable(f"the database is away: {reasons[-1] if reasons else 'no answer'}") from error
    except _REFUSED as error:
        raise CannotStart(f"TOCSIN_DATABASE_URL cannot be used: {error}") from error


async def _insist(url: str, name: str, reasons: list[str]) -> Connection:
    """Connect, retrying; each reason is logged once and added to *reasons*."""
    waits = full_jitter(0.1, 3.0)
    while True:
        try:
            return await connect(url, server_settings={"application_name": name})
        except _AWAY as error:
            reason = f"{_places(url)}: {getattr(error, 'strerror', None) or error or type(error).__name__}"
            if reason not in reasons:
                log.warning("database unavailable; retrying", reason=reason)
            reasons.append(reason)
            await asyncio.sleep(next(waits))


def _places(url: str) -> str:
    """The hosts of *url*, without secrets."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or dict(parse_qsl(parts.query)).get("host") or "localhost"


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


def _unavailable() -> Unavailable:
    return Unavailable("the database is away", retry_after=1)
