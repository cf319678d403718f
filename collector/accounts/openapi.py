"""Who may do what, and what was done; probes and how they join."""

from collector.accounts.service import team, tokens, users
from collector.http.openapi.models import Schema, request
from collector.http.openapi.parts import (
    PAGED,
    SPAN,
    Operation,
    choice,
    flag,
    free,
    id_,
    listing,
    many,
    maybe,
    moment,
    named,
    number,
    page,
    plus,
    query,
    record,
    ref,
    text,
    warned,
    whole,
)
from collector.probes.service import join_tokens

TAG = "Access"
_ROLE = choice("admin", "editor", "viewer")
_PERMISSION = choice("read-only", "read-write", "admin")
_PLAN = choice("free", "developer", "pro", "enterprise")
_LIMITS = record(
    monitors=whole(100_000), channels=whole(1_000), streams=whole(600), mailsPerHour=whole(10_000)
)
_TEAM = record(id=id_("team"), name=text("Default"), plan=_PLAN, limits=_LIMITS, createdAt=moment())
_PERSON = record(id=maybe(id_("usr")), name=text("Admin"))
_USER = record(
    id=id_("usr"),
    email=text("admin@example.com"),
    name=text("Admin"),
    role=_ROLE,
    status=choice("invited", "active"),
    invitedUntil=maybe(moment()),
    createdAt=moment(),
)
_INVITED = warned(
    {
        **_USER,
        "properties": {
            **_USER["properties"],
            "invitationUrl": text("https://tocsin.example.com/invitations/s3"),
        },
    }
)
_TOKEN = record(
    id=id_("tok"),
    name=text("deploy"),
    permission=_PERMISSION,
    hint=maybe(text("tocsin_Ab3d")),
    user=_PERSON,
    createdAt=moment(),
    expiresAt=maybe(moment()),
)
_JOIN = record(
    id=id_("tok"),
    locations=many(text("eu")),
    uses=whole(1),
    used=whole(0),
    createdAt=moment(),
    expiresAt=moment(),
)
_PROBE = record(
    id=id_("prb"),
    name=text("eu-1"),
    location=maybe(text("eu")),
    locations=many(text("eu")),
    status=text("connected"),
    version=maybe(text("0.2.0")),
    lastSeenAt=maybe(moment()),
    clockSkewMs=maybe(number(3)),
    load=free({"monitors": 12, "running": 1}),
    certificate=maybe(free()),
    shared=flag(),
    standsIn=flag(False),
    drainingSince=maybe(moment()),
    revokedAt=maybe(moment()),
    createdAt=moment(),
)
_RENAME = named(
    "UpdateProbeRequest",
    record(name=text("eu-1", minLength=1, maxLength=255, description="New name of the probe.")),
)
SCHEMAS: dict[str, Schema] = {"User": _USER, "Token": _TOKEN, "Probe": _PROBE, "JoinToken": _JOIN}
_LAST = {409: "It is the team's last admin"}
_ENTRY = record(
    id=text("aud_01kahb5m7q8x9t3v2c4d6e0f1g"),
    timestamp=moment(),
    actor=free({"type": "user", "name": "Admin"}),
    action=text("update"),
    resource=free({"type": "monitor", "name": "shop"}),
    fields=many(text("interval")),
    address=maybe(text("192.0.2.7")),
    requestId=maybe(text("6f1c")),
)

OPERATIONS: dict[str, Operation] = {
    "GET /v1/me": Operation(
        summary="Whom this token belongs to",
        answer=record(
            id=id_("usr"),
            email=text("admin@example.com"),
            name=text("Admin"),
            role=_ROLE,
            permission=_PERMISSION,
            team=record(id=id_("team"), name=text("Default"), plan=_PLAN),
        ),
    ),
    "GET /v1/team": Operation(summary="Read the team", answer=_TEAM),
    "PUT /v1/team": Operation(
        summary="Rename the team",
        answer=warned(_TEAM),
        body=request(team.TeamFields, "UpdateTeamRequest"),
        example={"name": "Shop"},
    ),
    "GET /v1/users": Operation(summary="List people", answer=listing(ref("User")), query=PAGED),
    "POST /v1/users": Operation(
        summary="Invite somebody; the link is told once",
        status=201,
        answer=_INVITED,
        body=request(users.UserSettings, "CreateUserRequest"),
        example={"email": "editor@example.com", "name": "Editor", "role": "editor"},
    ),
    "GET /v1/users/{id}": Operation(summary="Read a person", answer=ref("User")),
    "PUT /v1/users/{id}": Operation(
        summary="Change a person's name, address or role",
        answer=_INVITED,
        body=request(users.UserSettings, "UpdateUserRequest", partial=True),
        example={"role": "viewer"},
        needs_body=False,
        more=_LAST,
    ),
    "DELETE /v1/users/{id}": Operation(
        summary="Remove a person, whose tokens end at once", status=204, more=_LAST
    ),
    "POST /v1/users/{id}/invite": Operation(
        summary="Invite somebody once more; the link is told once", answer=_INVITED
    ),
    "GET /v1/tokens": Operation(
        summary="List tokens, without their values", answer=listing(ref("Token")), query=PAGED
    ),
    "POST /v1/tokens": Operation(
        summary="Make a token; its value is told once",
        status=201,
        answer=warned(plus(_TOKEN, token=text("tocsin_..."))),
        body=request(tokens.TokenRequest, "CreateTokenRequest"),
        example={"name": "deploy", "permission": "read-write", "expiresIn": "90d"},
    ),
    "DELETE /v1/tokens/{id}": Operation(summary="Revoke a token, everywhere at once", status=204),
    "GET /v1/audit-log": Operation(
        summary="Who did what, newest first",
        answer=page(_ENTRY),
        query=(
            query("actor", text(), "Only what this person did"),
            query("resource", text(), "Only what was done to this"),
            query("action", text(), "Only deeds of this name"),
            *SPAN,
            *PAGED,
        ),
    ),
    "GET /v1/probes": Operation(summary="List probes", answer=listing(ref("Probe")), query=PAGED),
    "GET /v1/probes/{id}": Operation(summary="Read a probe", answer=ref("Probe")),
    "PUT /v1/probes/{id}": Operation(
        summary="Rename a probe",
        answer=ref("Probe"),
        body=_RENAME,
        example={"name": "eu-1"},
    ),
    "DELETE /v1/probes/{id}": Operation(summary="Revoke a probe", status=204),
    "POST /v1/probes/{id}/drain": Operation(summary="Hand its monitors to other probes", answer=ref("Probe")),
    "DELETE /v1/probes/{id}/drain": Operation(summary="Let it take monitors again", status=204),
    "POST /v1/probes/{id}/revoke": Operation(
        summary="Refuse its certificate from now on", answer=ref("Probe")
    ),
    "GET /v1/probe-tokens": Operation(
        summary="List join tokens, without their values", answer=listing(ref("JoinToken")), query=PAGED
    ),
    "POST /v1/probe-tokens": Operation(
        summary="Make a join token; its value is told once",
        status=201,
        answer=warned(plus(_JOIN, token=text("tocsin-join_..."))),
        body=request(join_tokens.JoinTokenRequest, "CreateProbeTokenRequest"),
        example={"locations": ["eu"], "ttl": 3600},
    ),
    "DELETE /v1/probe-tokens/{id}": Operation(summary="Delete a join token", status=204),
}
