"""Users and their roles, API tokens, the audit log; probes and their join tokens."""

from collector.accounts import answers
from collector.accounts.service import team, tokens, users
from collector.http.openapi.models import answer, request
from collector.http.openapi.parts import (
    PAGED,
    SPAN,
    Operation,
    listing,
    named,
    page,
    query,
    record,
    text,
)
from collector.probes import answers as probe_answers
from collector.probes.service import join_tokens

TAG = "Access"
_RENAME = named(
    "UpdateProbeRequest",
    record(name=text("eu-1", minLength=1, maxLength=255, description="New name of the probe.")),
)
_TEAM = answer(answers.TeamAnswer, "Team")
_USER = answer(answers.UserAnswer, "User")
_INVITED = answer(answers.InvitedUser, "InvitedUser")
_TOKEN = answer(answers.TokenAnswer, "Token")
_PROBE = answer(probe_answers.ProbeAnswer, "Probe")
_LAST = {409: "It is the team's last admin"}
OPERATIONS: dict[str, Operation] = {
    "GET /v1/me": Operation(
        summary="The token's user, team and permission",
        answer=answer(answers.CurrentUser, "CurrentUser"),
    ),
    "GET /v1/team": Operation(summary="Read the team", answer=_TEAM),
    "PUT /v1/team": Operation(
        summary="Change the team's name or its demand for two-factor authentication",
        answer=_TEAM,
        body=request(team.TeamFields, "UpdateTeamRequest"),
        example={"name": "Shop"},
    ),
    "GET /v1/users": Operation(summary="List users", answer=listing(_USER), query=PAGED),
    "POST /v1/users": Operation(
        summary="Invite a user; the link is shown once",
        status=201,
        answer=_INVITED,
        body=request(users.UserSettings, "CreateUserRequest"),
        example={"email": "editor@example.com", "name": "Editor", "role": "editor"},
    ),
    "GET /v1/users/{id}": Operation(summary="Read a user", answer=_USER),
    "PUT /v1/users/{id}": Operation(
        summary="Update a user's name, address or role",
        answer=_INVITED,
        body=request(users.UserSettings, "UpdateUserRequest", partial=True),
        example={"role": "viewer"},
        needs_body=False,
        more=_LAST,
    ),
    "DELETE /v1/users/{id}": Operation(
        summary="Remove a user and revoke their tokens", status=204, more=_LAST
    ),
    "POST /v1/users/{id}/invite": Operation(
        summary="Invite a user again; the link is shown once", answer=_INVITED
    ),
    "GET /v1/tokens": Operation(
        summary="List tokens, without their values", answer=listing(_TOKEN), query=PAGED
    ),
    "POST /v1/tokens": Operation(
        summary="Create a token; its value is shown once",
        status=201,
        answer=answer(answers.CreatedToken, "CreatedToken"),
        body=request(tokens.TokenRequest, "CreateTokenRequest"),
        example={"name": "deploy", "permission": "read-write", "expiresIn": "90d"},
    ),
    "DELETE /v1/tokens/{id}": Operation(summary="Revoke a token", status=204),
    "GET /v1/audit-log": Operation(
        summary="List the audit log, newest first",
        answer=page(answer(answers.AuditLogEntry, "AuditLogEntry")),
        query=(
            query("actor", text(), "Only what this person did"),
            query("resource", text(), "Only what was done to this"),
            query("action", text(), "Only actions of this name"),
            *SPAN,
            *PAGED,
        ),
    ),
    "GET /v1/probes": Operation(summary="List probes", answer=listing(_PROBE), query=PAGED),
    "GET /v1/probes/{id}": Operation(summary="Read a probe", answer=_PROBE),
    "PUT /v1/probes/{id}": Operation(
        summary="Rename a probe",
        answer=_PROBE,
        body=_RENAME,
        example={"name": "eu-1"},
    ),
    "DELETE /v1/probes/{id}": Operation(summary="Revoke a probe", status=204),
    "POST /v1/probes/{id}/drain": Operation(
        summary="Drain a probe: its monitors move to other probes", answer=_PROBE
    ),
    "DELETE /v1/probes/{id}/drain": Operation(summary="Undrain a probe", status=204),
    "POST /v1/probes/{id}/revoke": Operation(summary="Revoke a probe's certificate", answer=_PROBE),
    "GET /v1/probe-tokens": Operation(
        summary="List join tokens, without their values",
        answer=listing(answer(probe_answers.JoinTokenAnswer, "ProbeToken")),
        query=PAGED,
    ),
    "POST /v1/probe-tokens": Operation(
        summary="Create a join token; its value is shown once",
        status=201,
        answer=answer(probe_answers.CreatedJoinToken, "CreatedProbeToken"),
        body=request(join_tokens.JoinTokenRequest, "CreateProbeTokenRequest"),
        example={"locations": ["eu"], "ttl": 3600},
    ),
    "DELETE /v1/probe-tokens/{id}": Operation(summary="Delete a join token", status=204),
}
