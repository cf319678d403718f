"""Sends a mail of plain text to one address."""

from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from collector.platform.delivery import Undelivered
from collector.platform.mailer import Mailer


async def send(mailer: Mailer, to: str, subject: str, text: str) -> str:
    """Send it; return the fault, if any."""
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


def line(text: str) -> str:
    """Return *text* on one line."""
    return " ".join(text.split())
