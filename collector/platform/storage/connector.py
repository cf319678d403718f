"""Connects to the primary among several hosts, and has the kernel notice peers that vanished."""

import asyncio
import socket
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg
import structlog

from shared.backoff import full_jitter
from shared.errors import CannotStart, Unavailable

log = structlog.get_logger()

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]
else:  # not generic at runtime
    Connection = asyncpg.Connection

PATIENCE_S: Final = 60.0  # for the first connection
BRIEFLY_S: Final = 5.0  # likewise, for an interactive command
_CONNECT_S: Final = 5.0
LOST: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
)
AWAY: Final = (
    *LOST,
    OSError,
    asyncpg.TooManyConnectionsError,
    asyncpg.exceptions.TargetServerAttributeNotMatched,  # a standby, while there is no primary
)
_REFUSED: Final = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.ClientConfigurationError,
)
# An idle peer is asked after so many seconds, again after so many, and is dead after so many questions.
_KEEPALIVE: Final = (
    (socket.TCP_KEEPIDLE, 5),
    (socket.TCP_KEEPINTVL, 2),
    (socket.TCP_KEEPCNT, 3),
)


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
            except (*AWAY, *_REFUSED, asyncpg.PostgresError) as error:
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
    for option, value in _KEEPALIVE:
        _set_option(connection, option, value)
    return connection


def give_up_after(connection: Connection, seconds: int) -> None:
    """End a TCP connection, unlike other ones, once its peer has taken in nothing for so long.

    Not for work such as a restore, whose server may be busy with its disk meanwhile.
    """
    _set_option(connection, socket.TCP_USER_TIMEOUT, seconds * 1000)


def _set_option(connection: Connection, option: int, value: int) -> None:
    transport: asyncio.BaseTransport = connection._transport  # type: ignore[attr-defined]  # noqa: SLF001 - asyncpg has no setting for it
    link = transport.get_extra_info("socket")
    if link.family != socket.AF_UNIX:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        link.setsockopt(socket.IPPROTO_TCP, option, value)


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
        except AWAY as error:
            reason = f"{_places(url)}: {getattr(error, 'strerror', None) or error or type(error).__name__}"
            if reason not in reasons:
                log.warning("database unavailable; retrying", reason=reason)
            reasons.append(reason)
            await asyncio.sleep(next(waits))


def _places(url: str) -> str:
    """The hosts of *url*, without secrets."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or dict(parse_qsl(parts.query)).get("host") or "localhost"


def unavailable() -> Unavailable:
    return Unavailable("the database is away", retry_after=1)
