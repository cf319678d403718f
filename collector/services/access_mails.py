"""Mails with a link by which somebody gets in: an invitation, a new password."""

from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Final

from collector.channels.mailer import Mailer
from collector.channels.message import Undelivered

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


async def invited(mailer: Mailer, to: str, team: str, url: str, until: str) -> str:
    """Send an invitation; what went wrong, or nothing."""
    text = _INVITED.format(team=team, url=url, until=until)
    return await _send(mailer, to, f"You are invited to {_line(team)} on Tocsin", text)


async def reset(mailer: Mailer, to: str, team: str, url: str) -> str:
    """Send a link for a new password; what went wrong, or nothing."""
    return await _send(mailer, to, "A new password for Tocsin", _RESET.format(team=team, url=url))


async def _send(mailer: Mailer, to: str, subject: str, text: str) -> str:
    try:
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = mailer.sender, to, subject
        mail["Date"], mail["Message-ID"] = formatdate(), make_msgid(domain=mailer.domain)
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(text)
        refused = await mailer.hand_in(mail, [to])
    except Undelivered as error:
        return str(error)
    except ValueError:
        return "the address cannot be written to"
    return str(refused[to]) if to in refused else ""


def _line(text: str) -> str:
    return " ".join(text.split())
