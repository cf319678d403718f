"""Receives pushed metrics over HTTP, and lists their series."""

from typing import Any, Final

from aiohttp import hdrs, web

from collector.http import bodies, pages, problems, ratelimit
from collector.http.auth import caller
from collector.http.context import context_of
from collector.http.ratelimit import PUSHES
from collector.http.request_data import Query, path_id
from collector.metrics.service import otlp_answers, series
from collector.metrics.service.series import MetricsReceiver, PushAdmission
from collector.metrics.storage.series import SeriesValue
from collector.monitors.service import reads
from collector.monitors.service.reads import WHAT
from collector.platform import failures
from collector.platform.bucket import BucketState
from shared import ids
from shared.errors import Limited, TocsinError, Unauthorized
from shared.kinds import ReceiverType

MAX_BODY: Final = 16 << 20
_FIRST: Final = "prometheus.writerequest"
_SECOND: Final = "io.prometheus.write.v2.request"
_JSON: Final = "application/json"
_PROTOBUF: Final = "application/x-protobuf"
RECEIVER: web.AppKey[MetricsReceiver] = web.AppKey("metrics_receiver")
_WRITTEN: Final = "X-Prometheus-Remote-Write-{}-Written"


async def remote_write(request: web.Request) -> web.Response:
    """204 if everything was accepted. Senders retry after 429 and 5xx, and drop what gets a 400."""
    receiver = request.app[RECEIVER]
    state = await _admitted(request, ReceiverType.PROMETHEUS)
    second = _is_second(request)
    async with receiver.room(state) as room:
        body = await _body(request, room, packed=False)  # packed with snappy; the receiver unpacks it
        written = await receiver.remote_write(state, body, second=second)
    headers = {
        _WRITTEN.format("Samples"): str(written.samples),
        _WRITTEN.format("Histograms"): str(written.histograms),
        _WRITTEN.format("Exemplars"): "0",
    }
    if written.refused:
        return problems.problem(400, f"Not all was taken: {written.error}", headers=headers)
    return web.Response(status=204, headers=headers)


async def list_series(request: web.Request) -> web.Response:
    """The latest value of each series, at most some seconds old."""
    context = context_of(request)
    id_ = path_id(request, "mon", WHAT)
    monitor = await reads.found(context.db, caller(request).team_id, id_)
    query = Query(request)
    at = pages.page(query)
    metric = query.text("metric")
    query.done()
    values, total = await series.page(context.db, monitor, metric, at.limit, at.offset)
    return pages.answer(request, at, [_shown(value) for value in values], total)


async def _body(request: web.Request, room: PushAdmission, *, packed: bool) -> bytes:
    """Read the body, which may exceed the API's limit. Raises BodyTooLarge, Invalid, HTTPRequestTimeout."""

    async def grown(size: int) -> None:
        if size > series.LARGE:
            await room.widen()

    return await bodies.whole(request, MAX_BODY, series.READ_S, packed=packed, grown=grown)


async def _admitted(request: web.Request, type_: str) -> Any:
    """Authorize the request before its body is read. Raises Unauthorized, Limited."""
    scheme, _, token = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    if scheme.lower() != "bearer":
        raise Unauthorized("Send the monitor's token: Authorization: Bearer <config.authToken>")
    id_ = ids.read("mon", request.match_info["id"])
    try:
        state = await request.app[RECEIVER].admit(id_, token.strip(), type_)
    except Limited as error:
        ratelimit.stands(
            request, BucketState(PUSHES, False, 0, PUSHES.burst / PUSHES.per_second, error.retry_after)
        )
        raise
    if state.standing is not None:
        ratelimit.stands(request, state.standing)
    return state


def _is_second(request: web.Request) -> bool:
    """Whether it is remote write 2.0. Raises HTTPUnsupportedMediaType if it is no remote write at all."""
    type_, _, rest = request.headers.get(hdrs.CONTENT_TYPE, _PROTOBUF).partition(";")
    proto = next(
        (part.partition("=")[2] for part in rest.split(";") if part.strip().startswith("proto=")), ""
    )
    message = proto.strip().strip('"').lower() or _FIRST
    encoding = request.headers.get(hdrs.CONTENT_ENCODING, "snappy").strip().lower()
    known = type_.strip().lower() == _PROTOBUF and message in {_FIRST, _SECOND}
    if not known or encoding != "snappy":
        raise web.HTTPUnsupportedMediaType(reason=f"The body must be {_PROTOBUF}, packed with snappy")
    return message == _SECOND


def _shown(series_value: SeriesValue) -> dict[str, Any]:
    return {
        "metric": series_value.labels.get("__name__"),
        "labels": {name: value for name, value in series_value.labels.items() if name != "__name__"},
        "value": series.number(series_value.value),
        "timestamp": series_value.at,
        "stale": series_value.stale,
        "receivedAt": series_value.seen_at,
    }


async def otlp(request: web.Request) -> web.Response:
    """Accept an OTLP/HTTP export; the response has the format of the request."""
    json = request.content_type == _JSON
    try:
        if not json and request.content_type != _PROTOBUF:
            raise web.HTTPUnsupportedMediaType(reason=f"The body must be {_PROTOBUF} or {_JSON}")
        packed = bodies.is_packed(request)
        receiver = request.app[RECEIVER]
        state = await _admitted(request, ReceiverType.OPENTELEMETRY)
        async with receiver.room(state) as room:
            written = await receiver.otlp(state, await _body(request, room, packed=packed), json=json)
    except TocsinError as error:
        return _otlp_refused(error, json=json)
    answer = otlp_answers.taken_json(written) if json else otlp_answers.taken(written)
    return web.Response(body=answer, content_type=_JSON if json else _PROTOBUF)


def _otlp_refused(error: TocsinError, *, json: bool) -> web.Response:
    """The error as a gRPC status; exporters retry only after 429 and 503."""
    failure, again = failures.failure(error, failures.PASSING), failures.retry_after(error)
    message = otlp_answers.reason(error)
    shown = otlp_answers.status_json if json else otlp_answers.status
    headers = {} if again is None else {hdrs.RETRY_AFTER: str(again)}
    if failure.status == 401:
        headers[hdrs.WWW_AUTHENTICATE] = "Bearer"
    return web.Response(
        body=shown(failure.code.value[0], message, again),
        status=failure.status,
        headers=headers,
        content_type=_JSON if json else _PROTOBUF,
    )
