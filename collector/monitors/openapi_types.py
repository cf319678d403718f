"""OpenAPI of each monitor type: its configuration, requests and responses."""

from collections.abc import Callable
from functools import partial
from typing import Final

from collector.http.openapi.models import Named, Schema, answer, properties, request
from collector.http.openapi.parts import const, one_of, together, whole
from collector.monitors.answers import MonitorDetails
from collector.platform.monitor import MonitorSettings, Trial
from shared.assertions import Assertion
from shared.kinds import KINDS, RECEIVING, UMBRELLA, WEB3
from shared.kinds.http import Auth
from shared.kinds.prometheus import Condition
from shared.kinds.web3.bridge import BridgeSide
from shared.kinds.web3.gas_price import Thresholds

# Names of classes within configurations, where the kind is not beside them.
_NAMES: Final = (
    (Assertion, "HttpAssertion"),
    (Auth, "HttpAuthentication"),
    (Condition, "MetricCondition"),
    (BridgeSide, "BridgeSide"),
    (Thresholds, "GasPriceThresholds"),
)
_INTERVAL: Final = whole(
    300, minimum=1, maximum=86_400, description="Seconds between two checks, as `interval` beside `config`."
)


def _made(example: str, description: str) -> Schema:
    """A field that only the service sets."""
    return {
        "type": "string",
        "format": "uri",
        "readOnly": True,
        "examples": [example],
        "description": description,
    }


PING_URL: Final = _made(
    "https://tocsin.example.com/v1/ping/0123abcd", "URL that the job pings; it is the secret."
)
INGEST_URL: Final = _made(
    "https://tocsin.example.com/v1/ingest/prometheus/mon_01kahb5m7q8x9t3v2c4d6e0f1g",
    "URL that `remote_write` of Prometheus sends to.",
)
ENDPOINT: Final = _made("https://tocsin.example.com:4317", "Endpoint of OTLP over gRPC.")
_MADE: Final = {
    "heartbeat": {"pingUrl": PING_URL},
    "prometheus": {"ingestUrl": INGEST_URL},
    "opentelemetry": {"endpoint": ENDPOINT},
}
# Internal fields: the key is shown as a part of the URL.
_HIDDEN: Final = {"heartbeat": "pingKey"}


def config(type_: str, *, changes: bool = False) -> Named:
    """Return the configuration of a type; *changes*: as a JSON merge patch."""
    plain = request(KINDS[type_], "", merge=changes, names=_NAMES)
    ending = "MonitorConfigChanges" if changes else "MonitorConfig"
    return Named(KINDS[type_].__name__ + ending, partial(_config, type_, plain))


def _config(type_: str, plain: Named) -> Schema:
    made = plain.make()
    known = {name: each for name, each in made["properties"].items() if name != _HIDDEN.get(type_)}
    more = {"interval": _INTERVAL} if type_ in WEB3 else _MADE.get(type_, {})
    return {**made, "properties": {**known, **more}}


CONFIGS: Final = {type_: config(type_) for type_ in KINDS}
CHANGES: Final = {type_: config(type_, changes=True) for type_ in KINDS}


def _of_umbrella(type_: str) -> Named:
    """The same with its subtype, which a monitor of the type itself may omit."""
    made = CONFIGS[type_]
    return Named(f"Web3{made.name}", lambda: {**made.make(), "required": ["subType", *_needed(made)]})


def _needed(config_: Named) -> list[str]:
    found: list[str] = config_.make().get("required", [])
    return found


_OF_UMBRELLA: Final = one_of(
    "Web3MonitorConfig",
    "subType",
    {type_: _of_umbrella(type_) for type_ in WEB3},
    "Configuration of a monitor of type `web3`: `subType` says what it watches.",
)
SETTINGS: Final = request(MonitorSettings, "MonitorSettings")


def pascal(type_: str) -> str:
    """Return ``GasPrice`` for ``gas_price``, the name of the type's class."""
    return "Web3" if type_ == UMBRELLA else KINDS[type_].__name__


def bodies(name: str, about: str, make: Callable[[str, Named], Named]) -> Named:
    """Return one body per type, distinguished by ``type``; *make* takes the type and its configuration."""
    each = {type_: make(type_, CONFIGS[type_]) for type_ in KINDS}
    return one_of(name, "type", {**each, UMBRELLA: make(UMBRELLA, _OF_UMBRELLA)}, about)


def _needs_config(type_: str) -> bool:
    return type_ == UMBRELLA or bool(_needed(CONFIGS[type_]))


def typed(type_: str, shown: Named, *, always: bool = False) -> Schema:
    """Return the two fields that bind a configuration to its type; *always*: it is required."""
    config_ = {"allOf": [shown], "description": f"What a monitor of type `{type_}` checks, and how."}
    return {
        "type": "object",
        "properties": {"type": const(type_, "Type of the monitor; it cannot be changed."), "config": config_},
        "required": ["type", "config"] if always or _needs_config(type_) else ["type"],
    }


def _requested(type_: str, shown: Named) -> Named:
    return together(f"{pascal(type_)}MonitorRequest", SETTINGS, lambda: typed(type_, shown))


def _changes() -> Schema:
    return {
        "type": "object",
        "description": "Changes of a monitor: fields that are left out stay as they are.",
        "properties": {
            **properties(MonitorSettings, partial=True)["properties"],
            "config": {
                "description": "JSON merge patch of the configuration, as the monitor's type has it.",
                "anyOf": list(CHANGES.values()),
            },
        },
    }


def _trial(type_: str, shown: Named) -> Named:
    return together(f"Test{pascal(type_)}MonitorRequest", _TRIAL, lambda: typed(type_, shown))


_TRIAL: Final = request(Trial, "MonitorTestSettings")
UPDATE: Final = Named("UpdateMonitorRequest", _changes)
TEST: Final = one_of(
    "TestMonitorRequest",
    "type",
    {
        **{type_: _trial(type_, shown) for type_, shown in CONFIGS.items() if type_ not in RECEIVING},
        UMBRELLA: _trial(UMBRELLA, _OF_UMBRELLA),
    },
    "What is checked once: `type` says which configuration it has.",
)


def _shown(type_: str, shown: Named) -> Named:
    return together(f"{pascal(type_)}Monitor", _DETAILS, lambda: typed(type_, shown, always=True))


_DETAILS: Final = answer(MonitorDetails, "MonitorDetails")
MONITOR: Final = bodies("Monitor", "A monitor: `type` says which configuration it has.", _shown)
CREATE: Final = bodies(
    "CreateMonitorRequest",
    "A new monitor: `type` says which configuration it has.",
    _requested,
)
