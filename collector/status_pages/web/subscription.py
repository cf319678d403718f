"""Renders the pages of subscribing: forms with one button, and their outcome."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from collector.status_pages.service.subscriptions import Subscription
from collector.status_pages.service.view import PageView
from collector.status_pages.web import status
from collector.status_pages.web.addresses import PageAddresses
from collector.status_pages.web.words.words import Words
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
    view: PageView, place: PageAddresses, words: Words, *, bad: str | None = None, fault: str = ""
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


def sent(view: PageView, place: PageAddresses, words: Words, email: str) -> str:
    """The same whether the address was known or not."""
    s = words.subscription
    return _drawn(SubscriptionPage(s.sent, s.sent_text.format(address=email), done=True), view, place, words)


def confirming(one: Subscription, view: PageView, place: PageAddresses, words: Words) -> str:
    s = words.subscription
    content = SubscriptionPage(
        s.confirm,
        s.confirm_text.format(address=one.email, name=one.page.name),
        press=s.confirm_press,
        action=f"/subscriptions/{one.token}/confirm",
    )
    return _drawn(content, view, place, words)


def confirmed(one: Subscription, view: PageView, place: PageAddresses, words: Words) -> str:
    s = words.subscription
    text = s.confirmed_text.format(address=one.email)
    return _drawn(
        SubscriptionPage(s.confirmed, text, next=_manage(one, words), done=True), view, place, words
    )


def over(one: Subscription, view: PageView, place: PageAddresses, words: Words) -> str:
    s = words.subscription
    again = (s.subscribe, f"/status/{one.page.slug}/subscribe")
    return _drawn(SubscriptionPage(s.over, s.over_text, next=again), view, place, words)


def managing(one: Subscription, view: PageView, place: PageAddresses, words: Words) -> str:
    """The subscriber's preferences, to be edited."""
    text = words.subscription.manage_text.format(address=one.email)
    return _drawn(_choices(one, words, text, done=False), view, place, words)


def saved(one: Subscription, view: PageView, place: PageAddresses, words: Words) -> str:
    """The preferences after they were saved."""
    content = _choices(one, words, words.subscription.saved, done=True)
    return _drawn(content, view, place, words)


def _choices(one: Subscription, words: Words, text: str, *, done: bool) -> SubscriptionPage:
    s = words.subscription
    preferences, chosen = one.row.preferences, set(one.row.components)
    return SubscriptionPage(
        s.manage,
        text,
        press=s.save,
        action=f"/subscriptions/{one.manage}",
        choices=Choices(
            preferences.get("incidents", True),
            preferences.get("maintenance", True),
            [(ids.show("comp", id_), name, id_ in chosen) for id_, name in one.components],
        ),
        next=(s.leave, f"/subscriptions/{one.manage}/unsubscribe"),
        done=done,
    )


def leaving(one: Subscription, view: PageView, place: PageAddresses, words: Words) -> str:
    s = words.subscription
    content = SubscriptionPage(
        s.leave,
        s.leave_text.format(address=one.email, name=one.page.name),
        press=s.leave,
        action=f"/subscriptions/{one.manage}/unsubscribe",
        next=_manage(one, words),
    )
    return _drawn(content, view, place, words)


def left(one: Subscription, view: PageView, place: PageAddresses, words: Words) -> str:
    s = words.subscription
    return _drawn(
        SubscriptionPage(s.left, s.left_text.format(address=one.email), done=True), view, place, words
    )


def gone(words: Words) -> str:
    """The link's subscription no longer exists."""
    return status.missing(replace(words, missing=words.subscription.gone))


def _manage(one: Subscription, words: Words) -> tuple[str, str]:
    return words.subscription.preferences, f"/subscriptions/{one.manage}"


def _drawn(content: SubscriptionPage, view: PageView, place: PageAddresses, words: Words) -> str:
    return status.render("subscription.html.j2", view, place, words, content=content, s=words.subscription)
