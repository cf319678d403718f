"""Alert channels: where notifications go, and each delivery with its attempts."""

from collector.http.openapi.models import Named, Schema, answer, properties, request
from collector.http.openapi.parts import (
    PAGED,
    Operation,
    choice,
    const,
    listing,
    one_of,
    page,
    query,
    record,
    together,
)
from collector.notifications import answers
from collector.notifications.channels import CHANNELS
from collector.notifications.channels.texts import Templates
from collector.notifications.service.fields import ChannelSettings

TAG = "Alert channels"
_TYPE = choice(*CHANNELS)
_NAMES = ((Templates, "MessageTemplates"),)
_SETTINGS = request(ChannelSettings, "AlertChannelSettings")
_CONFIGS = {
    type_: request(cls, f"{cls.__name__}ChannelConfig", names=_NAMES) for type_, cls in CHANNELS.items()
}
_CONFIG_CHANGES = [
    request(cls, f"{cls.__name__}ChannelConfigChanges", merge=True, names=_NAMES) for cls in CHANNELS.values()
]


def _requested(type_: str, config: Named) -> Named:
    name = f"{CHANNELS[type_].__name__}ChannelRequest"
    return together(name, _SETTINGS, lambda: _typed(type_, config))


def _typed(type_: str, config: Named) -> Schema:
    return record(
        type=const(type_, "Type of the channel; it cannot be changed."),
        config={"allOf": [config], "description": f"Where a channel of type `{type_}` sends, and how."},
    )


def _changes() -> Schema:
    return {
        "type": "object",
        "description": "Changes of an alert channel: fields that are left out stay as they are.",
        "properties": {
            **properties(ChannelSettings, partial=True)["properties"],
            "config": {
                "description": "JSON merge patch of the configuration, as the channel's type has it.",
                "anyOf": _CONFIG_CHANGES,
            },
        },
    }


_CREATE = one_of(
    "CreateAlertChannelRequest",
    "type",
    {type_: _requested(type_, config) for type_, config in _CONFIGS.items()},
    "A new alert channel: `type` says which configuration it has.",
)
_DETAILS = answer(answers.ChannelDetails, "AlertChannelDetails")
_DELIVERY = answer(answers.DeliveryAnswer, "Delivery")


def _shown(type_: str, config: Named) -> Named:
    name = f"{CHANNELS[type_].__name__}Channel"
    return together(name, _DETAILS, lambda: _typed(type_, config))


_CHANNEL = one_of(
    "AlertChannel",
    "type",
    {type_: _shown(type_, config) for type_, config in _CONFIGS.items()},
    "An alert channel: `type` says which configuration it has.",
)
_UPDATE = Named("UpdateAlertChannelRequest", _changes)

OPERATIONS: dict[str, Operation] = {
    "GET /v1/alert-channels": Operation(
        summary="List channels",
        answer=listing(_CHANNEL),
        query=(query("type", _TYPE, "Only those of this type"), *PAGED),
    ),
    "POST /v1/alert-channels": Operation(
        summary="Create a channel",
        status=201,
        answer=answer(answers.CreatedChannel, "CreatedAlertChannel"),
        body=_CREATE,
        example={"name": "ops", "type": "webhook", "config": {"url": "https://hooks.example.com/tocsin"}},
    ),
    "GET /v1/alert-channels/{id}": Operation(
        summary="Read a channel; its secrets are masked for read-only tokens",
        answer=_CHANNEL,
        tagged=True,
    ),
    "PUT /v1/alert-channels/{id}": Operation(
        summary="Update the fields that are sent; config is a JSON merge patch",
        answer=_CHANNEL,
        body=_UPDATE,
        example={"enabled": False},
        tagged=True,
        needs_body=False,
    ),
    "DELETE /v1/alert-channels/{id}": Operation(summary="Delete a channel", status=204, tagged=True),
    "POST /v1/alert-channels/{id}/test": Operation(
        summary="Send a test message",
        answer=answer(answers.TestedChannel, "TestedAlertChannel"),
    ),
    "GET /v1/alert-channels/{id}/deliveries": Operation(
        summary="List deliveries through the channel, with each attempt", answer=page(_DELIVERY), query=PAGED
    ),
    "POST /v1/deliveries/{id}/redeliver": Operation(summary="Redeliver a delivery", answer=_DELIVERY),
}
