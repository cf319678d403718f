"""Submits mails to subscribers of status pages, one address at a time."""

from datetime import datetime, timedelta

from collector.notifications.channels import page_mail
from collector.notifications.channels.page_mail import Envelope, Links, MailText
from collector.platform.delivery import Undelivered
from collector.platform.mailer import Mailer
from collector.platform.seal import Keyring
from collector.status_pages.core import links as statuspage_links
from collector.status_pages.core.news import next_mail
from collector.status_pages.jobs import texts
from collector.status_pages.jobs.sender import TryOutcome
from collector.status_pages.service.subscribers import opened_link_key
from collector.status_pages.storage.news import SubscriberDelivery
from shared import ids


class PageMails:
    """Mails updates. Do not share *mailer*: alerts must not wait behind ten thousand subscribers."""

    __slots__ = ("_keyring", "_mailer", "_public_url")

    def __init__(self, keyring: Keyring, mailer: Mailer, *, public_url: str) -> None:
        self._keyring = keyring
        self._mailer = mailer
        self._public_url = public_url

    async def carry(self, letter: SubscriberDelivery, now: datetime) -> TryOutcome:
        """Make one attempt. A rejected address affects only its letter; other errors affect the server."""
        to = page_mail.deliverable(letter.email or "")
        if to is None:
            return TryOutcome(error="no mail can go to this address")
        held = (await self._mailer.admit(letter.team_id, [to], known=True)).get(to)
        if held is not None:
            return TryOutcome(timedelta(seconds=held.wait_s or 0), held.why)
        links = self._links(letter)
        envelope = self._envelope(letter, to)
        mail = page_mail.mail(self._body(letter, links), envelope, links, now)
        wait = next_mail(letter.attempt)
        try:
            refused = await self._mailer.hand_in(mail, [to])
        except Undelivered as error:
            # A non-ASCII address needs SMTPUTF8, which not every server supports.
            return TryOutcome(wait, str(error), rest=to.isascii())
        if to not in refused:
            return TryOutcome()
        return TryOutcome(
            None if refused[to].lasting else wait, f"the address was refused: {refused[to].code}"
        )

    def _links(self, letter: SubscriberDelivery) -> Links:
        manage = statuspage_links.managing(self._link_key(letter), letter.subscriber_id)
        mine = f"{self._public_url}/subscriptions/{manage}"
        return Links(f"{self._public_url}/status/{letter.slug}", mine, f"{mine}/unsubscribe")

    def _link_key(self, letter: SubscriberDelivery) -> bytes:
        return opened_link_key(
            self._keyring, letter.team_id, letter.subscriber_id, letter.sealed_link_key, letter.link_key
        )

    def _envelope(self, letter: SubscriberDelivery, to: str) -> Envelope:
        incident, page = letter.incident_id, ids.show("sp", letter.page_id)
        about = ids.show("spi", incident) if incident else ids.show("sub", letter.subscriber_id)
        key = letter.news_id or letter.id
        return Envelope(
            sender=self._mailer.sender,
            to=to,
            key=f"{key.hex}.{letter.subscriber_id.hex}",
            thread=about,
            list_id=page,
            domain=self._mailer.domain,
        )

    def _body(self, letter: SubscriberDelivery, links: Links) -> MailText:
        if letter.news_id is not None:
            return texts.updated(letter, links)
        if letter.verified_at is not None or letter.asked_at is None:
            return texts.reminding(letter, links)
        token = statuspage_links.confirming(self._link_key(letter), letter.subscriber_id, letter.asked_at)
        return texts.confirming(letter, f"{self._public_url}/subscriptions/{token}/confirm")
