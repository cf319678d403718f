"""State of the sign-in between requests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from aiohttp import web

from collector.accounts.service.openid import Provider
from collector.accounts.service.sign_in import SignInService
from collector.http.context import CONTEXT
from shared.loop import forever

_TURN: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class SignIn:
    """State of one application; *provider*: the OpenID provider, if any; *mails*: those being sent."""

    door: SignInService
    provider: Provider | None
    mails: set["asyncio.Task[None]"] = field(default_factory=set)


SIGN_IN: web.AppKey[SignIn] = web.AppKey("sign_in", SignIn)


async def running(provider: Provider | None, app: web.Application) -> AsyncIterator[None]:
    """Run the limits of the sign-in while *app* serves."""
    state = app[SIGN_IN] = SignIn(SignInService(app[CONTEXT].db), provider)
    task = asyncio.create_task(forever("sign-in limits", state.door.turn, _TURN), name="sign-in limits")
    yield
    for each in (task, *state.mails):
        each.cancel()
        with suppress(asyncio.CancelledError):
            await each
    await state.door.close()
    if provider is not None:
        await provider.close()
