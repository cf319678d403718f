"""The tools of the MCP server: what an assistant may ask of a service, and what it may change."""

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, TypeVar

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from client import choices
from client.api import Api
from shared.errors import TocsinError

_MOST: Final = 100
Monitor = Annotated[str, Field(description="Id of the monitor, or its name if that is unique")]
Incident = Annotated[
    str, Field(description="Id of the incident, or its monitor, whose newest unresolved one is meant")
]
Limit = Annotated[int, Field(ge=1, le=_MOST, description="How many at most")]
Moment = Annotated[str | None, Field(description="RFC 3339 in UTC, such as 2026-01-31T08:00:00Z")]
Seconds = Annotated[int, Field(ge=60, le=604_800, description="How long, in seconds")]
_Answer = TypeVar("_Answer")
Connect = Callable[[Context[Any, Any]], Api]


class ReadTools:
    """Tools that change nothing; *connect* returns the API for a request."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect

    def list_monitors(
        self,
        context: Context[Any, Any],
        status: Literal["up", "down", "paused"] | None = None,
        group: str | None = None,
        tag: str | None = None,
        search: str | None = None,
        limit: Limit = 50,
    ) -> dict[str, Any]:
        """List monitors with their status, by status, group, tag (name or name:value), or part of a name."""
        query = {"status": status, "group": group, "tag": tag, "search": search, "limit": str(limit)}
        return self._get(context, "/monitors", query)

    def get_monitor(self, context: Context[Any, Any], monitor: Monitor) -> dict[str, Any]:
        """Show a monitor: its configuration, uptime, response times, and how each location sees it now."""
        return self._get(context, f"/monitors/{self._monitor(context, monitor)}")

    def explain_monitor(self, context: Context[Any, Any], monitor: Monitor) -> dict[str, Any]:
        """Explain why a monitor is up or down: votes of locations, quorum, holds, what would change it."""
        return self._get(context, f"/monitors/{self._monitor(context, monitor)}/explain")

    def monitor_statistics(
        self,
        context: Context[Any, Any],
        monitor: Monitor,
        since: Moment = None,
        until: Moment = None,
        step: Annotated[str, Field(description="Length of a step: 5m, 1h, 1d")] = "1h",
    ) -> dict[str, Any]:
        """Show uptime and response times (mean, p50, p95, p99) over time, in all and by location."""
        query = {"from": since, "to": until, "step": step}
        return self._get(context, f"/monitors/{self._monitor(context, monitor)}/stats", query)

    def list_results(
        self,
        context: Context[Any, Any],
        monitor: Monitor,
        status: Literal["up", "down", "unknown"] | None = None,
        since: Moment = None,
        until: Moment = None,
        limit: Limit = 50,
    ) -> dict[str, Any]:
        """List single checks of a monitor, newest first, with duration, code and error."""
        query = {"status": status, "from": since, "to": until, "limit": str(limit)}
        return self._get(context, f"/monitors/{self._monitor(context, monitor)}/results", query)

    def list_incidents(
        self,
        context: Context[Any, Any],
        status: Literal["open", "acknowledged", "resolved"] | None = None,
        monitor: Monitor | None = None,
        limit: Limit = 20,
    ) -> dict[str, Any]:
        """List incidents, newest first."""
        monitor_id = None if monitor is None else self._monitor(context, monitor)
        return self._get(
            context, "/incidents", {"status": status, "monitor_id": monitor_id, "limit": str(limit)}
        )

    def get_incident(self, context: Context[Any, Any], incident: Incident) -> dict[str, Any]:
        """Show an incident with its notes and its timeline: checks, decisions, who was notified."""
        path = f"/incidents/{self._incident(context, incident)}"
        return {**self._get(context, path), "timeline": self._get(context, f"{path}/timeline")["events"]}

    def incident_evidence(self, context: Context[Any, Any], incident: Incident) -> dict[str, Any]:
        """Show what each location saw when an incident began: status, phases, headers, begin of the body."""
        return self._get(context, f"/incidents/{self._incident(context, incident)}/evidence")

    def incident_statistics(
        self, context: Context[Any, Any], since: Moment = None, until: Moment = None
    ) -> dict[str, Any]:
        """Show the number of incidents, MTTR and mean downtime of a span, and by day."""
        return self._get(context, "/incidents/stats", {"from": since, "to": until})

    def _get(
        self, context: Context[Any, Any], path: str, query: dict[str, str | None] | None = None
    ) -> dict[str, Any]:
        return _tried(lambda: self._connect(context).get(path, **(query or {})))

    def _post(
        self, context: Context[Any, Any], path: str, body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        return _tried(lambda: self._connect(context).post(path, body))

    def _monitor(self, context: Context[Any, Any], named: str) -> str:
        return _tried(lambda: choices.monitor(self._connect(context), named))

    def _incident(self, context: Context[Any, Any], named: str) -> str:
        return _tried(lambda: choices.incident(self._connect(context), named))


class WriteTools(ReadTools):
    """Tools that need a token that may write."""

    def preview_alert_rule(
        self,
        context: Context[Any, Any],
        conditions: Annotated[dict[str, Any], Field(description='As of a rule: {"consecutiveFailures": 3}')],
        monitors: Annotated[list[str], Field(description="Ids of monitors; all if empty")],
    ) -> dict[str, Any]:
        """Show which alerts a rule would have raised over the last 7 days; nothing is saved."""
        return self._post(context, "/alert-rules/preview", {"conditions": conditions, "monitors": monitors})

    def check_monitor(self, context: Context[Any, Any], monitor: Monitor) -> dict[str, Any]:
        """Check a monitor once, now; the result is not stored and decides nothing."""
        return self._post(context, f"/monitors/{self._monitor(context, monitor)}/check")

    def acknowledge_incident(self, context: Context[Any, Any], incident: Incident) -> dict[str, Any]:
        """Acknowledge an incident: somebody works on it, and its escalation ends."""
        return self._post(context, f"/incidents/{self._incident(context, incident)}/acknowledge")

    def resolve_incident(
        self, context: Context[Any, Any], incident: Incident, note: str = ""
    ) -> dict[str, Any]:
        """Resolve an incident; *note*: what was done about it."""
        path = f"/incidents/{self._incident(context, incident)}/resolve"
        return self._post(context, path, {"resolutionNote": note} if note else {})

    def add_incident_note(self, context: Context[Any, Any], incident: Incident, text: str) -> dict[str, Any]:
        """Add a note to an incident, which its timeline shows."""
        return self._post(context, f"/incidents/{self._incident(context, incident)}/notes", {"text": text})

    def silence_monitor(
        self, context: Context[Any, Any], monitor: Monitor, duration: Seconds, reason: str
    ) -> dict[str, Any]:
        """Suppress a monitor's notifications for a time; it is checked all the same."""
        path = f"/monitors/{self._monitor(context, monitor)}/silence"
        return self._post(context, path, {"duration": duration, "reason": reason})

    def pause_monitor(self, context: Context[Any, Any], monitor: Monitor) -> dict[str, Any]:
        """Stop the checks of a monitor until it is resumed."""
        return self._post(context, f"/monitors/{self._monitor(context, monitor)}/pause")

    def resume_monitor(self, context: Context[Any, Any], monitor: Monitor) -> dict[str, Any]:
        """Resume the checks of a paused monitor."""
        return self._post(context, f"/monitors/{self._monitor(context, monitor)}/resume")


# Needs a token that may write, and changes nothing that lasts.
_HARMLESS: Final = frozenset({"preview_alert_rule", "check_monitor"})


def add(server: MCPServer[Any], connect: Connect, *, may_write: bool) -> None:
    """Add the tools to *server*: those that change something only if *may_write*."""
    tools = WriteTools(connect) if may_write else ReadTools(connect)
    for name in (name for name in dir(tools) if not name.startswith("_")):
        reads = name in vars(ReadTools) or name in _HARMLESS
        hints = ToolAnnotations(read_only_hint=reads, open_world_hint=False)
        server.add_tool(getattr(tools, name), annotations=hints, structured_output=False)


def _tried(call: Callable[[], _Answer]) -> _Answer:
    """Return what *call* returns. Raises ToolError with the service's own words."""
    try:
        return call()
    except TocsinError as error:
        raise ToolError(str(error)) from None
