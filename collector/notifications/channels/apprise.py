"""Sends through Apprise, an optional extra that knows more than a hundred services."""

import asyncio
import importlib
import importlib.util
import logging
import os
import sys
import threading
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Final

from annotated_types import MaxLen, MinLen, Predicate

from collector.history.core.phase import Phase
from collector.notifications.channels._policy import PATIENT
from collector.notifications.channels.message import Message, Sent
from collector.notifications.channels.texts import MessageText, Templates, write
from collector.notifications.core.retry import RetryPolicy
from collector.platform.delivery import Undelivered
from collector.platform.plain_text import cut, lines
from collector.platform.transport import Transport
from shared.kinds.fields import ErrorText, Secret
from shared.net import refusal

MISSING: Final = "needs Apprise beside Tocsin: pip install 'tocsin[apprise]'"
_TIMEOUT_S: Final = 30
_MAX_BODY: Final = 4_000
_KINDS: Final = {
    Phase.PROBLEM: "failure",
    Phase.TAKEN: "warning",
    Phase.OVER: "success",
    Phase.NEWS: "info",
}
# These notify the machine that runs the collector, not the team.
_LOCAL: Final = frozenset(
    {"blink1", "dbus", "gio", "glib", "gnome", "growl", "kde", "macosx", "qt", "syslog", "windows"}
)
# Whether private addresses are allowed; Apprise's threads get a copy. None: the call is not Apprise's.
_GUARD: Final[ContextVar[bool | None]] = ContextVar("apprise", default=None)
_LOADING: Final = threading.Lock()
_WATCHED: Final = frozenset({"open", "socket.connect", "socket.sendto", "subprocess.Popen"})
_LIBRARIES: Final = tuple(
    {f"{os.path.realpath(folder)}{os.sep}" for folder in (sys.prefix, sys.base_prefix)}
    | {f"{folder}{os.sep}" for folder in (sys.prefix, sys.base_prefix)}
)


def is_installed() -> bool:
    return importlib.util.find_spec("apprise") is not None


def is_service(text: str) -> bool:
    """Whether it is an Apprise URL of a remote service."""
    scheme, mark, rest = text.partition("://")
    named = bool(mark and rest) and scheme.isascii() and scheme.isalnum() and scheme.lower() not in _LOCAL
    return named and _services(text) == [text.strip()]


def _services(text: str) -> list[str]:
    """The URLs that Apprise finds in the text; without Apprise, the whole text as one URL."""
    if not is_installed():
        return [text.strip()]
    with _LOADING:
        _library()
    return list(importlib.import_module("apprise.utils.parse").parse_urls(text))


Service = Annotated[
    str,
    MaxLen(8192),
    Predicate(is_service),
    ErrorText("must be an Apprise URL of a service, like ntfys://topic"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Apprise:
    urls: Annotated[list[Service], MinLen(1), MaxLen(20), Secret()]
    """Apprise URLs, one per service. Secret: masked for read-only tokens."""
    templates: Templates | None = None
    """The team's own texts, used instead of the built-in ones."""

    @property
    def policy(self) -> RetryPolicy:
        return PATIENT

    def render(self, message: Message) -> tuple[dict[str, str], MessageText]:
        """The arguments for Apprise's `notify`."""
        notice = message.notice
        text = write(notice, self.templates)
        facts = "" if text.own else "\n".join(f"{label}: {lines(value)}" for label, value in notice.facts)
        body = "\n\n".join(part for part in (lines(text.body), facts, notice.link) if part)
        return {
            "title": text.title,
            "body": cut(body, _MAX_BODY) or text.title,
            "notify_type": _KINDS[notice.phase],
            "body_format": "text",
        }, text

    async def send(self, message: Message, transport: Transport, now: datetime) -> Sent:  # noqa: ARG002 - the common signature
        """Send to the services that no earlier attempt reached. Raises Undelivered."""
        if not is_installed():
            raise Undelivered(f"this type of channel {MISSING}", lasting=True)
        texts, text = self.render(message)
        left = {f"urls[{at}]": url for at, url in enumerate(self.urls)}
        left = {name: url for name, url in left.items() if name not in message.reached}
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                failed = await asyncio.get_running_loop().run_in_executor(
                    _threads(), _notify, left, texts, transport.allow_private
                )
        except TimeoutError:
            raise Undelivered(f"no answer within {_TIMEOUT_S} s", reached=message.reached) from None
        if failed:
            raise Undelivered(
                f"Apprise could not deliver to {', '.join(failed)}",
                reached=message.reached | (left.keys() - failed),
            )
        return Sent(None, text.fault)


def _notify(urls: dict[str, str], texts: dict[str, str], allow_private: bool) -> list[str]:
    """The names of the services not reached. Apprise's errors are dropped: they may contain secrets."""
    with _LOADING:
        apprise = _library()
    guarded = _GUARD.set(allow_private)
    failed = []
    for name, url in urls.items():
        if not _delivered(apprise, url, texts):
            failed.append(name)
    _GUARD.reset(guarded)
    return failed


def _delivered(apprise: Any, url: str, texts: dict[str, str]) -> bool:
    service = apprise.Apprise(asset=apprise.AppriseAsset(storage_mode="memory"))
    try:
        return bool(service.add(url)) and bool(service.notify(**texts))
    except Exception:  # noqa: BLE001 - a hundred libraries with their own errors
        return False


@cache
def _library() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its internal messages do not belong in our log
        library = importlib.import_module("apprise")
        library.Apprise.instantiate("json://localhost")
    for name in ("apprise", "requests", "urllib3"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # they contain the URL
    # Apprise connects and reads files by itself: this checks every file and address, also after redirects.
    sys.addaudithook(_judge)
    return library


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=8, thread_name_prefix="apprise")


def _of_a_library(path: str | bytes) -> bool:
    """Whether the path, with symlinks resolved, belongs to a library."""
    return os.path.realpath(os.fsdecode(path)).startswith(_LIBRARIES)


def _judge(event: str, arguments: Sequence[Any]) -> None:
    """Deny local files, programs and private addresses: some Apprise URLs name a local file to send."""
    if event not in _WATCHED or (allow_private := _GUARD.get()) is None:
        return
    if event == "open":
        if isinstance(arguments[0], str | bytes) and not _of_a_library(arguments[0]):
            raise PermissionError("files of this machine are not for channels")
        return
    address = arguments[-1]
    if not isinstance(address, tuple):
        raise PermissionError("programs and sockets of this machine are not for channels")
    if refusal(str(address[0]), allow_private=allow_private):
        raise PermissionError("this address may not be reached from here")
