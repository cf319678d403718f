"""Renders the pages of subscribing: forms with one button, and their outcome."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from collector.status_pages.service.subscriptions import Subscription
from collector.status_pages.service.view import PageView
from collector.status_pages.web import status
from collector.status_pages.web.addresses import PageAddresses
from collector.status_pages.web.words.words import LanguageTexts
from shared import ids


@dataclass(frozen=True, slots=True)
class Choices:
    """A subscriber's preferences; *components*: id, name, chosen."""

    incidents: bool
    maintenance: bool
    components: Sequence[tuple[str, str, bool]]


@dataclass(frozen=True, slots=True)
class SubscriptionPage:
    """A page: *press* is its button's label, if it has one, *next* a link's label and URL.

    *asks*: it asks for an address; *done*: it shows the result of a button.
    """

    title: str
    text: str = ""
    fault: str = ""
    press: str = ""
    action: str = ""
    asks: bool = False
    email: str = ""
    choices: Choices | None = None
    next: tuple[str, str] | None = None
    done: bool = False


def asking(
    view: PageView, place: PageAddresses, words: LanguageTexts, *, bad: str | None = None, fault: str = ""
) -> str:
    """The subscription form; *bad*: the invalid address that was entered."""
    s = words.subscription
    content = SubscriptionPage(
        s.subscribe,
        s.subscribe_text,
        fault=fault or (s.bad_address if bad is not None else ""),
        press=s.subscribe,
        action=f"{place.base}/subscribe",
        asks=True,
        email=bad or "",
    )
    return _drawn(content, view, place, words)


def sent(view: PageView, place: PageAddresses, words: LanguageTexts, email: str) -> str:
    """The same whether the address was known or not."""
    s = words.subscription
    return _drawn(SubscriptionPage(s.sent, s.sent_text.format(address=email), done=True), view, place, words)


def confirming(subscription: Subscription, view: PageView, place: PageAddresses, words: LanguageTexts) -> str:
    s = words.subscription
    content = SubscriptionPage(
        s.confirm,
        s.confirm_text.format(address=subscription.email, name=subscription.page.name),
        press=s.confirm_press,
        action=f"/subscriptions/{subscription.token}/confirm",
    )
    return _drawn(content, view, place, words)


def confirmed(subscription: Subscription, view: PageView, place: PageAddresses, words: LanguageTexts) -> str:
    s = words.subscription
    text = s.confirmed_text.format(address=subscription.email)
    return _drawn(
        SubscriptionPage(s.confirmed, text, next=_manage(subscription, words), done=True), view, place, words
    )


def over(subscription: Subscription, view: PageView, place: PageAddresses, words: LanguageTexts) -> str:
    s = words.subscription
    again = (s.subscribe, f"/status/{subscription.page.slug}/subscribe")
    return _drawn(SubscriptionPage(s.over, s.over_text, next=again), view, place, words)


def managing(subscription: Subscription, view: PageView, place: PageAddresses, words: LanguageTexts) -> str:
    """The subscriber's preferences, to be edited."""
    text = words.subscription.manage_text.format(address=subscription.email)
    return _drawn(_choices(subscription, words, text, done=False), view, place, words)


def saved(subscription: Subscription, view: PageView, place: PageAddresses, words: LanguageTexts) -> str:
    """The preferences after they were saved."""
    content = _choices(subscription, words, words.subscription.saved, done=True)
    return _drawn(content, view, place, words)


def _choices(subscription: Subscription, words: LanguageTexts, text: str, *, done: bool) -> SubscriptionPage:
    s = words.subscription
    preferences, chosen = subscription.row.preferences, set(subscription.row.components)
    return SubscriptionPage(
        s.manage,
        text,
        press=s.save,
        action=f"/subscriptions/{subscription.manage}",
        choices=Choices(
            preferences.get("incidents", True),
            preferences.get("maintenance", True),
            [(ids.show("comp", id_), name, id_ in chosen) for id_, name in subscription.components],
        ),
        next=(s.leave, f"/subscriptions/{subscription.manage}/unsubscribe"),
        done=done,
    )


def leaving(subscription: Subscription, view: PageView, place: PageAddresses, words: LanguageTexts) -> str:
    s = words.subscription
    content = SubscriptionPage(
        s.leave,
        s.leave_text.format(address=subscription.email, name=subscription.page.name),
        press=s.leave,
        action=f"/subscriptions/{subscription.manage}/unsubscribe",
        next=_manage(subscription, words),
    )
    return _drawn(content, view, place, words)


def left(subscription: Subscription, view: PageView, place: PageAddresses, words: LanguageTexts) -> str:
    s = words.subscription
    return _drawn(
        SubscriptionPage(s.left, s.left_text.format(address=subscription.email), done=True),
        view,
        place,
        words,
    )


def gone(words: LanguageTexts) -> str:
    """The link's subscription no longer exists."""
    return status.missing(replace(words, missing=words.subscription.gone))


def _manage(subscription: Subscription, words: LanguageTexts) -> tuple[str, str]:
    return words.subscription.preferences, f"/subscriptions/{subscription.manage}"


def _drawn(content: SubscriptionPage, view: PageView, place: PageAddresses, words: LanguageTexts) -> str:
    return status.render("subscription.html.j2", view, place, words, content=content, s=words.subscription)
