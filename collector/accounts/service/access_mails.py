"""Mails with a one-time link: invitation and password reset."""

from typing import Final

from collector.platform.mailer import Mailer
from collector.platform.text_mail import line, send

_INVITED: Final = """You are invited to the team {team} on Tocsin, which watches its systems.

Choose a password here; the link works once, until {until}:

{url}

If you did not expect this, ignore it.
"""
_RESET: Final = """Somebody asked for a new password for your account in the team {team} on Tocsin.

Choose one here; the link works once, within 24 hours:

{url}

If it was not you, ignore this: nothing has changed.
"""


async def invited(mailer: Mailer, team_id: int, to: str, team: str, url: str, until: str) -> str:
    """Mail an invitation; return the fault, if any."""
    if held := (await mailer.admit(team_id, [to], known=True)).get(to):
        return held.why
    text = _INVITED.format(team=team, url=url, until=until)
    return await send(mailer, to, f"You are invited to {line(team)} on Tocsin", text)


async def reset(mailer: Mailer, to: str, team: str, url: str) -> str:
    """Mail a link for a new password; return the fault, if any."""
    return await send(mailer, to, "A new password for Tocsin", _RESET.format(team=team, url=url))
