"""How ``tocsin apply`` and ``tocsin export`` connect: by the API, or directly to the database."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import aiohttp
import orjson

from collector.accounts.service import team
from collector.declarative.service import apply as declared
from collector.declarative.service import export as declared_export
from collector.declarative.service.shape import ApplyContext
from collector.platform.access import operator
from collector.platform.answer_json import encode
from collector.platform.bucket import plans
from collector.platform.context import ServiceContext
from collector.platform.operator import ground, operators
from collector.platform.signals import Signals
from collector.status_pages.service.domains import ServiceNames
from shared import rpc_urls, trust
from shared.clock import utc_now
from shared.errors import Conflict, Invalid, Unavailable
from shared.settings import DeclaredSettings

# Longer than the service takes before it gives up.
_TIMEOUT: Final = aiohttp.ClientTimeout(total=300, connect=10)
_TRIES: Final = 5
_LONGEST_WAIT_S: Final = 30
_PASSING: Final = {429, 503}


async def apply(settings: DeclaredSettings, team_name: str | None, body: Mapping[str, Any]) -> dict[str, Any]:
    """Apply *body* and return the API's answer. Raises Invalid and other errors of the API."""
    if settings.url is not None:
        return await _called(settings, "POST", "/v1/apply", body)
    async with ground(operators(settings)) as here:
        means, where = await _means(here.db, here.keyring, settings, team_name)
        outcome = await declared.apply(means, where.who, body, utc_now, own=where.own)
        await means.signals.turn()
    answer: dict[str, Any] = orjson.loads(encode(declared.answer(outcome, plan=body.get("plan", False))))
    return answer


async def export(settings: DeclaredSettings, team_name: str | None) -> dict[str, Any]:
    """Return the team's resources by section."""
    if settings.url is not None:
        return await _called(settings, "GET", "/v1/export", None)
    async with ground(operators(settings)) as here:
        _, where = await _means(here.db, here.keyring, settings, team_name)
        return await declared_export.export(where)


def faults(values: Mapping[str, Any]) -> list[str]:
    """Return faults of settings that do not fit together."""
    if values.get("url") and not values.get("token", "unreadable"):
        return ["TOCSIN_TOKEN: is required with TOCSIN_URL"]
    return []


async def _means(
    db: Any, keyring: Any, settings: DeclaredSettings, name: str | None
) -> tuple[ServiceContext, ApplyContext]:
    async with db.connection() as tx:
        found = await team.named(tx, name)
    who = operator(found.team_id)
    nodes = rpc_urls.parse(settings.rpc_urls) if settings.rpc_urls else {}
    allowed = plans(None, None, monitors=settings.max_monitors, channels=settings.max_channels)
    means = ServiceContext(db, keyring, Signals(db), settings.min_interval, who, nodes, allowed[found.plan])
    return means, ApplyContext(means, who, ServiceNames(settings.public_url, settings.hosts or ()), utc_now())


async def _called(
    settings: DeclaredSettings, method: str, path: str, body: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the answer to one request, retried while the service is busy."""
    assert settings.url is not None  # noqa: S101 - the callers check it
    url = settings.url.removesuffix("/v1") + path
    data = None if body is None else orjson.dumps(body)
    headers = {"Authorization": f"Bearer {settings.token}", "Content-Type": "application/json"}
    connector = aiohttp.TCPConnector(ssl=trust.of_the_system())
    async with aiohttp.ClientSession(connector=connector, timeout=_TIMEOUT, headers=headers) as session:
        for left in reversed(range(_TRIES)):
            status, answer = await _answer(session, method, url, data)
            if status not in _PASSING or not left:
                return _read(status, answer, len(data or b""))
            await asyncio.sleep(min(int(answer.get("retryAfter", 1)), _LONGEST_WAIT_S))
    raise AssertionError("the last try returns or raises")


async def _answer(
    session: aiohttp.ClientSession, method: str, url: str, data: bytes | None
) -> tuple[int, dict[str, Any]]:
    try:
        async with session.request(method, url, data=data, allow_redirects=False) as response:
            content = await response.read()
            answer = orjson.loads(content) if content else {}
            return response.status, answer if isinstance(answer, dict) else {}
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise Unavailable(f"{url} cannot be reached: {error or 'it does not answer'}") from None
    except orjson.JSONDecodeError:
        raise Unavailable(f"{url} answers something that is not Tocsin's") from None


def _read(status: int, answer: dict[str, Any], size: int) -> dict[str, Any]:
    """Return a good answer. Raises Invalid, Conflict, Unavailable for others."""
    if status == 200:
        return answer
    text = str(answer.get("message") or f"the service answered {status}")
    if status == 400 and isinstance(answer.get("details"), dict):
        raise Invalid(answer["details"], text)
    if status == 413:
        raise Conflict(
            f"the files are {size} bytes as one request: {text}; without --url there is no such bound"
        )
    if status in _PASSING:
        raise Unavailable(text)
    raise Conflict(text)
