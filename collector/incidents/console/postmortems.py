"""The editor of an incident's post-mortem, which begins with a draft, and its export."""

from uuid import UUID

from aiohttp import web

from collector.console.answers import back, page, posted, value
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.incidents.core.postmortem import PostmortemText
from collector.incidents.service import incidents, postmortem
from collector.platform.validation.validation import check
from shared import ids
from shared.errors import Conflict, Invalid


async def show(request: web.Request) -> web.StreamResponse:
    """Show the post-mortem in the editor; what nobody has written yet is a draft."""
    return await _shown(request)


async def save(request: web.Request) -> web.StreamResponse:
    """Save the text; what another user saved meanwhile is not overwritten without a warning."""
    context, id_, form = context_of(request), _id(request), await posted(request)
    text, revision = value(form, "text").replace("\r\n", "\n"), value(form, "revision")
    number = int(revision) if revision.isascii() and revision.isdigit() and len(revision) < 9 else 0
    try:
        wanted, _ = check(PostmortemText, {"text": text})
        await postmortem.save(context.db, who(request), id_, wanted.text, number, context.now())
    except Invalid as fault:
        return await _shown(request, text, fault.details["text"], status=400)
    except Conflict as fault:
        return await _shown(request, text, str(fault), status=409)
    return back(request, _path(id_), "Post-mortem saved.")


async def discard(request: web.Request) -> web.StreamResponse:
    """Delete what was written, and begin with the draft again."""
    id_ = _id(request)
    await postmortem.discard(context_of(request).db, who(request), id_)
    return back(request, _path(id_), "Post-mortem discarded. This is a new draft.")


async def export(request: web.Request) -> web.StreamResponse:
    """Send the post-mortem as a Markdown file, what was written or else the draft."""
    context, id_ = context_of(request), _id(request)
    kept = await postmortem.written(context.db, visitor(request).team_id, id_)
    text = kept.text if kept else await _draft(request, id_)
    answer = web.Response(text=text, content_type="text/markdown", charset="utf-8")
    answer.headers["Content-Disposition"] = f'attachment; filename="{ids.show("inc", id_)}.md"'
    return answer


async def _shown(
    request: web.Request, typed: str | None = None, fault: str = "", status: int = 200
) -> web.Response:
    context, id_, team_id = context_of(request), _id(request), visitor(request).team_id
    incident, _ = await incidents.one(context.db, team_id, id_)
    kept = await postmortem.written(context.db, team_id, id_)
    text = typed if typed is not None else kept.text if kept else await _draft(request, id_)
    return page(
        request,
        "postmortem.html.j2",
        status=status,
        incident=incident,
        here=f"/incidents/{ids.show('inc', id_)}",
        kept=kept,
        text=text,
        fault=fault,
    )


async def _draft(request: web.Request, id_: UUID) -> str:
    context = context_of(request)
    return await postmortem.write(context.db, context.keyring, visitor(request).team_id, id_, context.now())


def _id(request: web.Request) -> UUID:
    return path_id(request, "inc", incidents.WHAT)


def _path(id_: UUID) -> str:
    return f"/incidents/{ids.show('inc', id_)}/postmortem/edit"
