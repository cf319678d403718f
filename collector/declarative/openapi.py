"""Configuration as code: what files declare, in one request."""

from collector.declarative.service.kinds import SECTIONS
from collector.http.openapi.models import Schema
from collector.http.openapi.parts import (
    Operation,
    choice,
    flag,
    free,
    many,
    record,
    text,
    warned,
    whole,
)

TAG = "Configuration as code"
_SECTION = choice(*SECTIONS)
_DECLARED = {"type": "object", "properties": {"key": text("shop"), "name": text("Shop")}}
_KEY = record(section=_SECTION, resource=text("monitor"), key=text("shop"))
_CHANGE = record(
    action=choice("create", "update", "delete"),
    section=_SECTION,
    resource=text("monitor"),
    key=text("shop"),
    fields=many(record(name=text("interval"), old={}, new={})),
)
SCHEMAS: dict[str, Schema] = {}
OPERATIONS: dict[str, Operation] = {
    "POST /v1/apply": Operation(
        summary="Make everything as it is declared, or nothing; keys stand where other bodies have ids",
        answer=warned(
            record(
                plan=flag(False),
                changes=many(_CHANGE),
                unchanged=whole(12),
                takenOver=many(_KEY),
                left=many(_KEY),
            )
        ),
        body={
            "type": "object",
            "properties": {
                "plan": flag(),
                "prune": flag(False),
                "set": text("default"),
                "takeOver": flag(False),
                **{section: many(_DECLARED) for section in SECTIONS},
            },
        },
        example={
            "plan": True,
            "monitors": [{"name": "shop", "type": "http", "config": {"url": "https://shop.example.com/"}}],
        },
    ),
    "GET /v1/export": Operation(
        summary="What the team has, as files declare it: without ids, defaults and secrets",
        answer=record(tuple(SECTIONS), **{section: many(free({"name": "shop"})) for section in SECTIONS}),
    ),
}
