"""Renders forms by which users of the console send an operation's request from its page."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from collector.platform.access import Permission, permits

CONFIRMATION: Final = (
    '<dialog id="confirmation" aria-labelledby="confirmation-title"><form method="dialog">'
    '<h2 id="confirmation-title">Send this request?</h2><p></p>'
    '<button value="cancel">Cancel</button> <button value="send" class="chief">Send</button></form></dialog>'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsReader:
    """The user of the console who reads the pages.

    *csrf*: the form token that requests bear besides the session's cookie.
    """

    csrf: str
    name: str
    team: str
    permission: Permission


@dataclass(frozen=True, slots=True)
class TryIt:
    """The form of an operation; *needed*: the permission that the operation requires."""

    method: str
    path: str
    fields: str
    needed: Permission

    def rendered(self, reader: DocsReader) -> str:
        """Return the form for *reader*, hidden until a script works it."""
        refused = (
            ""
            if permits(reader.permission, self.needed)
            else '<p class="warning">Your role is '
            f"{reader.permission.value}, and this needs {self.needed.value}: the answer will be 403.</p>"
        )
        verb = escape(self.method.upper())
        return (
            f'<details class="try" data-method="{verb}" data-path="{escape(self.path)}" hidden>'
            f"<summary>Try it</summary>{refused}<form>{self.fields}"
            f'<p class="row"><button class="chief">Send {verb}</button> '
            '<button type="button" data-stop hidden>Stop</button></p></form>'
            '<div class="result" role="status"></div></details>'
        )


def of(method: str, path: str, operation: Mapping[str, Any], needed: Permission | None) -> TryIt | None:
    """Return the form of an operation; None for those that take another credential than a token, or none."""
    if needed is None:
        return None
    fields = "".join(_field(parameter) for parameter in operation["parameters"])
    body = operation.get("requestBody")
    if body is not None:
        fields += _body(body["content"]["application/json"]["example"])
    return TryIt(method, path, fields, needed)


def greeting(reader: DocsReader | None, here: str) -> str:
    """Return whose rights requests have, or for strangers the way to sign in and come back *here*."""
    if reader is None:
        return f'<p class="soft"><a href="/sign-in?next={here}">Sign in</a> to try these operations here.</p>'
    return (
        f'<p class="soft">Signed in as <bdi>{escape(reader.name)}</bdi> of <bdi>{escape(reader.team)}</bdi>: '
        f"“Try it” sends real requests to this team, with your {reader.permission.value} rights.</p>"
    )


def _field(parameter: Mapping[str, Any]) -> str:
    name, place = escape(parameter["name"]), parameter["in"]
    required = " required" if parameter.get("required") else ""
    attributes = f'name="{name}" data-in="{place}"{required}'
    choices = parameter["schema"].get("enum")
    if choices:
        options = "".join(f"<option>{escape(str(choice))}</option>" for choice in choices)
        control = f'<select {attributes}><option value="">not sent</option>{options}</select>'
    else:
        control = f'<input {attributes} autocomplete="off" spellcheck="false">'
    about = f"{place}, required" if required else place
    return f"<label><span><code>{name}</code> <small>{about}</small></span>{control}</label>"


def _body(example: object) -> str:
    text = json.dumps(example, indent=2, ensure_ascii=False)
    rows = min(text.count("\n") + 1, 16)
    return (
        "<label><span>Body <small>JSON</small></span>"
        f'<textarea data-in="body" rows="{rows}" spellcheck="false">{escape(text)}</textarea></label>'
    )
