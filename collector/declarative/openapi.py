"""Configuration as code: declared resources, applied in one request."""

from collector.declarative import answers
from collector.declarative.answers import Section
from collector.declarative.service.kinds import SECTIONS
from collector.http.openapi.models import Schema, answer
from collector.http.openapi.parts import (
    Operation,
    flag,
    many,
    named,
    record,
    text,
)

TAG = "Configuration as code"


def _section(section: Section) -> Schema:
    return {**many(_DECLARED), "description": f"The {SECTIONS[section].noun}s, each by its key."}


_DECLARED = named(
    "DeclaredResource",
    {
        "type": "object",
        "description": (
            "A resource as a file declares it: the fields of the request that creates it, with keys in place"
            " of ids. An export leaves out ids, defaults and secrets."
        ),
        "properties": {
            "key": text("shop", description="Key of the resource; without it its name."),
            "name": text("Shop", description="Name of the resource."),
        },
        "additionalProperties": {"description": "A field of the resource."},
    },
)
_APPLY = named(
    "ApplyConfigurationRequest",
    {
        "type": "object",
        "description": "Everything that one set of files declares.",
        "properties": {
            "plan": {**flag(), "description": "Whether nothing is changed, and only said what would be."},
            "prune": {
                **flag(False),
                "description": "Whether resources of this set that are no longer declared are deleted.",
            },
            "set": text("default", description="Name of the set of files."),
            "takeOver": {**flag(False), "description": "Whether resources of other sets become this set's."},
            **{section: _section(section) for section in SECTIONS},
        },
    },
)
_EXPORT = named(
    "ExportedConfiguration", record(tuple(SECTIONS), **{section: _section(section) for section in SECTIONS})
)
OPERATIONS: dict[str, Operation] = {
    "POST /v1/apply": Operation(
        summary="Apply a configuration completely or not at all; keys take the place of ids",
        answer=answer(answers.AppliedConfiguration, "AppliedConfiguration"),
        body=_APPLY,
        example={
            "plan": True,
            "monitors": [{"name": "shop", "type": "http", "config": {"url": "https://shop.example.com/"}}],
        },
    ),
    "GET /v1/export": Operation(
        summary="Export the team's configuration without ids, defaults and secrets",
        answer=_EXPORT,
    ),
}
