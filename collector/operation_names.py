"""Names the operations of the OpenAPI document as a library's functions: verb and noun."""

from typing import Final

# Exceptions, for which the rule of `operation_name` would produce a misleading name.
EXCEPTIONS: Final = {
    "POST /v1/monitors/bulk": "changeMonitors",
    "GET /v1/monitors/uptime": "listMonitorUptimes",
    "GET /v1/monitors/{id}/explain": "explainMonitor",
    "GET /v1/monitors/{id}/results/export": "exportMonitorResults",
    "GET /v1/monitors/{id}/stats": "getMonitorStats",
    "DELETE /v1/monitors/{id}/silence": "unsilenceMonitor",
    "POST /v1/monitors/{id}/rotate-key": "rotateMonitorKey",
    "GET /v1/ping/{key}": "pingHeartbeat",
    "POST /v1/ping/{key}": "pingHeartbeatWithBody",
    "GET /v1/ping/{key}/{sign}": "signalHeartbeat",
    "POST /v1/ping/{key}/{sign}": "signalHeartbeatWithBody",
    "POST /v1/ingest/prometheus/{id}": "writePrometheusMetrics",
    "POST /v1/ingest/otlp/{id}/v1/metrics": "writeOtlpMetrics",
    "GET /v1/metrics": "scrapeMetrics",
    "GET /v1/incidents/stats": "getIncidentStats",
    "GET /v1/events": "streamEvents",
    "POST /v1/deliveries/{id}/redeliver": "resendDelivery",
    "POST /v1/status-pages/{id}/verify-domain": "verifyStatusPageDomain",
    "GET /v1/status-pages/{id}/access": "getStatusPageAccess",
    "PUT /v1/status-pages/{id}/access": "updateStatusPageAccess",
    "PATCH /v1/status-pages/{id}/access": "patchStatusPageAccess",
    "PUT /v1/status-pages/{id}/components": "updateStatusPageComponentOrder",
    "PATCH /v1/status-pages/{id}/components": "patchStatusPageComponentOrder",
    "POST /v1/apply": "applyConfiguration",
    "GET /v1/export": "exportConfiguration",
    "GET /v1/me": "getCurrentUser",
    "GET /v1/audit-log": "listAuditLogEntries",
    "DELETE /v1/probes/{id}/drain": "undrainProbe",
    "GET /v1/openapi.json": "getOpenApiDocument",
    "GET /v1/apply-schema.json": "getApplySchema",
    "GET /v1/docs": "getDocumentationPage",
}
_ON_MANY: Final = {"GET": "list", "POST": "create"}
_ON_ONE: Final = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def operation_name(method: str, path: str) -> str:
    """The operationId of a route: an exception, or the method and the nouns of the path.

    ``GET /v1/monitors`` is ``listMonitors``, ``POST`` of it ``createMonitor``, ``PUT /v1/monitors/{id}``
    ``updateMonitor``, for it merges as ``PATCH`` does, which is ``patchMonitor``. A last word in the singular
    is a verb of ``POST`` (``pauseMonitor``) and a noun of all other methods (``getIncidentTimeline``).
    """
    known = EXCEPTIONS.get(f"{method} {path}")
    if known is not None:
        return known
    parts = path.removeprefix("/v1/").split("/")
    words = [part for part in parts if not part.startswith("{")]
    *above, last = words
    parents = "".join(_singular(_pascal(word)) for word in above)
    noun = _pascal(last)
    if parts[-1] != last:
        return _ON_ONE[method] + parents + _singular(noun)
    if noun.endswith("s"):
        return _ON_MANY[method] + parents + (noun if method == "GET" else _singular(noun))
    if method == "POST":
        return noun[:1].lower() + noun[1:] + parents
    return _ON_ONE[method] + parents + noun


def _pascal(word: str) -> str:
    """``alert-rules`` -> ``AlertRules``."""
    return "".join(part.capitalize() for part in word.split("-"))


def _singular(noun: str) -> str:
    return noun.removesuffix("ies") + "y" if noun.endswith("ies") else noun.removesuffix("s")
