"""Texts of mails to subscribers, in the language of each."""

from typing import Final

from collector.notifications.channels.page_mail import Links, MailText
from collector.status_pages.core.markdown import plain
from collector.status_pages.core.status_page import Severity
from collector.status_pages.storage.news import SubscriberDelivery
from collector.status_pages.web.words import ENGLISH, LANGUAGES
from collector.status_pages.web.words.words import LanguageTexts

_CALM, _PLAN, _NEUTRAL = "#1e8449", "#2471a3", "#34495e"
_COLOURS: Final[dict[Severity, str]] = {
    "none": _NEUTRAL,
    "minor": "#b9770e",
    "major": "#c0392b",
    "critical": "#c0392b",
    "maintenance": _PLAN,
}


def updated(letter: SubscriberDelivery, links: Links) -> MailText:
    """An update of an incident."""
    w = _words(letter)
    s = w.subscription
    name, title = letter.page_name, letter.title or ""
    phase = _phase(letter, w)
    facts = [
        (s.status, f"{phase}, {w.moment(letter.at)}" if letter.at else phase),
        (s.affects, w.comma.join(letter.component_names)),
        (s.planned_for, _span(letter, w)),
    ]
    return MailText(
        language=w.tag,
        title=title,
        subject=f"[{name}] {phase}: {title}",
        colour=_CALM if letter.phase == "resolved" else _COLOURS[letter.severity or "none"],
        text=plain(letter.message or ""),
        facts=[(label, value) for label, value in facts if value],
        press=(s.show_page, links.page),
        why=s.why.format(name=name),
        preferences=s.preferences,
        leave=s.leave,
        direction=w.direction,
    )


def confirming(letter: SubscriberDelivery, confirm: str) -> MailText:
    """Asks the recipient to confirm the subscription; *confirm* is the link."""
    w, name = _words(letter), letter.page_name
    s = w.subscription
    return MailText(
        language=w.tag,
        title=s.confirm,
        subject=s.confirm_subject.format(name=name),
        colour=_NEUTRAL,
        text=s.confirm_mail.format(name=name),
        facts=(),
        press=(s.confirm_mail_press, confirm),
        why=s.confirm_why.format(name=name),
        preferences=s.preferences,
        leave=s.leave,
        direction=w.direction,
    )


def reminding(letter: SubscriberDelivery, links: Links) -> MailText:
    """For an existing subscriber who subscribed again."""
    w, name = _words(letter), letter.page_name
    s = w.subscription
    return MailText(
        language=w.tag,
        title=s.known,
        subject=s.known_subject.format(name=name),
        colour=_NEUTRAL,
        text=s.known_mail.format(name=name),
        facts=(),
        press=(s.known_press, links.manage),
        why=s.why.format(name=name),
        preferences=s.preferences,
        leave=s.leave,
        direction=w.direction,
    )


def _words(letter: SubscriberDelivery) -> LanguageTexts:
    return LANGUAGES.get(letter.language, ENGLISH)


def _phase(letter: SubscriberDelivery, words: LanguageTexts) -> str:
    if letter.occasion == "reminder":
        return words.reminder
    phases = words.planned_phases if letter.severity == "maintenance" else words.phases
    return phases[letter.phase or "investigating"]


def _span(letter: SubscriberDelivery, words: LanguageTexts) -> str:
    if letter.scheduled_start is None:
        return ""
    start = words.moment(letter.scheduled_start)
    if letter.scheduled_end is None:
        return start
    return words.span.format(since=start, until=words.moment(letter.scheduled_end))
