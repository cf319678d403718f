"""Responses of console handlers: a page, a part of one, or a redirect with a message."""

import base64
import binascii
import re
import secrets
from typing import Any, Final
from urllib.parse import quote, urlsplit

import orjson
from aiohttp import hdrs, web

from collector.console import language, render, session
from collector.console.display import Display
from collector.console.forms import read
from collector.console.render import TONES, Flash, Frame, Tone
from collector.console.site import SITE
from collector.console.state import VISITOR, cookie
from collector.http.auth import is_secure
from collector.http.context import context_of
from collector.http.request_data import form

PART: Final = "X-Part"
_SAID: Final = "tocsin_said"
SECOND_FACTOR: Final = "/settings/account/two-factor"
THEME: Final = "tocsin_theme"
_LONGEST: Final = 400
# What a button "Undo" may do: a forged cookie must not make it delete anything.
_UNDO: Final = re.compile(
    r"/[a-z]+/[a-z]+_[0-9a-z]{26}/(?:reopen|end-snooze|unacknowledge|pause|resume|unsilence)"
    r"|/monitors/bulk/undo\?request=[\w.-]{1,128}"
)
_MOST_FIELDS: Final = 20_000


def page(
    request: web.Request,
    template: str,
    *,
    status: int = 200,
    said: tuple[Flash, ...] = (),
    **values: Any,
) -> web.Response:
    """Render the template with *values*; with X-Part only the block that the script requests."""
    part = request.headers.get(PART)
    if part is not None and not render.has_part(template, part):
        part = None
    messages = said if part is not None else (*_said(request), *said)
    text = render.render(template, frame(request, messages), values, part)
    answer = web.Response(text=text, status=status, content_type="text/html", charset="utf-8")
    if part is not None:
        answer.headers[PART] = part
    elif _SAID in request.cookies:
        answer.del_cookie(_SAID, path="/")
    return answer


def back(
    request: web.Request, path: str, text: str = "", *, tone: Tone = "good", undo: str = ""
) -> web.Response:
    """Redirect by 303 to *path*, which shows *text* once, with a button that posts to *undo*."""
    answer = web.Response(status=303, headers={hdrs.LOCATION: path})
    if text:
        message = orjson.dumps([tone, language.translate(text)[:_LONGEST], undo])
        answer.set_cookie(
            _SAID,
            base64.urlsafe_b64encode(message).decode(),
            path="/",
            max_age=60,
            httponly=True,
            samesite="Lax",
            secure=is_secure(request),
        )
    return answer


def sign_in_first(request: web.Request, public_url: str) -> web.Response:
    """Redirect to the sign-in, and back here afterwards; from a form that was sent, back to the form."""
    if request.headers.get(PART) is not None:
        return web.Response(status=401)
    if request.method == hdrs.METH_GET:
        return _to_sign_in(request, request.path_qs)
    notice = language.gettext("Your session has ended, and nothing was saved. Please sign in again.")
    return _to_sign_in(request, _referring(request, public_url), notice)


def second_factor_first(request: web.Request) -> web.Response:
    """Redirect to the set-up of the second factor, which the team requires."""
    if request.headers.get(PART) is not None:
        return web.Response(status=401)
    return back(request, SECOND_FACTOR)


def _to_sign_in(request: web.Request, here: str, notice: str = "") -> web.Response:
    path = "/sign-in" if here == "/" else f"/sign-in?next={quote(here, safe='')}"
    return back(request, path, notice, tone="warn")


def came_from(request: web.Request, section: str) -> str:
    """Return the page of *section* that a form was sent from, with its query; else its first one."""
    here = _referring(request, context_of(request).public_url)
    return here if here.partition("?")[0] == section else section


def _referring(request: web.Request, public_url: str) -> str:
    """Return the path of the page that a form was sent from; the first page if it is none of ours."""
    shown = request.headers.get(hdrs.REFERER, "")
    try:
        parts = urlsplit(shown)
    except ValueError:
        return "/"
    if not session.same_origin(f"{parts.scheme}://{parts.netloc}", request.host, public_url):
        return "/"
    return session.safe_next(parts.path + (f"?{parts.query}" if parts.query else ""))


async def posted(request: web.Request) -> read.Posted:
    """Return the texts of the submitted form by name. Raises Invalid for any other body."""
    return await form(request, _MOST_FIELDS)


def value(posted_: read.Posted, name: str) -> str:
    """Return one text of a form; empty if it is missing."""
    return posted_.get(name, [""])[-1]


def frame(request: web.Request, flashes: tuple[Flash, ...] = ()) -> Frame:
    """Return the frame around every page."""
    site, visitor = request.app[SITE], request.get(VISITOR)
    # Without the required second factor every link would lead back to its set-up.
    held = visitor.permission if visitor and not visitor.lacks_second_factor else None
    display = visitor.display if visitor else Display()
    theme = request.cookies.get(THEME, display.theme or "")
    return Frame(
        path=request.path,
        visitor=visitor,
        sections=site.sections(held, request.path),
        beside=site.beside(held, request.path),
        may=lambda method, path: site.may(held, method, path),
        csrf=_form_token(request) if visitor else "",
        theme=theme if theme in ("light", "dark") else "",
        display=display,
        said=flashes,
    )


def _form_token(request: web.Request) -> str:
    return session.form_token(cookie(request), secrets.token_bytes(session.NONCE_BYTES))


def _said(request: web.Request) -> tuple[Flash, ...]:
    """Return the message of the previous answer."""
    try:
        tone, text, undo = orjson.loads(base64.urlsafe_b64decode(request.cookies.get(_SAID, "")))
    except (ValueError, TypeError, binascii.Error):
        return ()
    if not isinstance(tone, str) or tone not in TONES or not isinstance(text, str):
        return ()
    undoes = isinstance(undo, str) and _UNDO.fullmatch(undo) is not None
    return (Flash(TONES[tone], text[:_LONGEST], undo if undoes else ""),)
