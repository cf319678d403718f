"""Mails with a one-time link: invitation and password reset."""

from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Final

from collector.platform.delivery import Undelivered
from collector.platform.mailer import Mailer

_INVITED: Final = """You are invited to the team {team} on Tocsin, which watches its systems.

Choose a password here; the link works once, until {until}:

{url}

If you did not expect this, ignore it.
"""
_CONFIRM: Final = """The team {team} wants to send the alerts of its systems to this address.

If you want them, say so here:

{url}

If not, ignore this: nothing is sent to you.
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
    return await _send(mailer, to, f"You are invited to {_line(team)} on Tocsin", text)


async def confirming(mailer: Mailer, team_id: int, to: str, team: str, url: str) -> str:
    """Ask an address outside the team whether it wants mails; return the fault, if any."""
    if held := (await mailer.admit(team_id, [to], known=True)).get(to):
        return held.why
    text = _CONFIRM.format(team=_line(team), url=url)
    return await _send(mailer, to, f"Do you want alerts of {_line(team)}?", text)


async def reset(mailer: Mailer, to: str, team: str, url: str) -> str:
    """Mail a link for a new password; return the fault, if any."""
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
