"""The texts of public pages that each language must have, with its formats of dates and numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from collector.status_pages.core.status_page import Displayed, Phase

_HUNDREDTHS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionWords:
    """The texts of one language; ``{name}`` is the page's name, ``{address}`` the subscriber's."""

    subscribe: str
    subscribe_text: str
    address: str
    bad_address: str
    sent: str
    sent_text: str
    confirm: str
    confirm_subject: str
    confirm_text: str
    confirm_press: str
    confirm_mail: str
    confirm_mail_press: str
    confirm_why: str
    confirmed: str
    confirmed_text: str
    over: str
    over_text: str
    known: str
    known_subject: str
    known_mail: str
    known_press: str
    manage: str
    manage_text: str
    incidents: str
    maintenance: str
    components: str
    components_text: str
    save: str
    saved: str
    leave: str
    leave_text: str
    left: str
    left_text: str
    gone: str
    status: str
    affects: str
    planned_for: str
    show_page: str
    why: str
    preferences: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageTexts:
    """The texts of one language. Names in braces are placeholders.

    *months* are full names; *short* the names in timestamps. *point* is the decimal separator.
    *own_zone*: the visitor's own time zone. *direction*: of the language's script.
    """

    tag: str
    own_name: str
    subscription: SubscriptionWords
    months: tuple[str, ...]
    short: tuple[str, ...]
    moment_form: str
    date_form: str
    month_form: str
    point: str
    percent: str
    comma: str
    shown: Mapping[Displayed, str]
    overall: Mapping[Displayed, str]
    phases: Mapping[Phase, str]
    planned_phases: Mapping[Phase, str]
    title: str
    history_title: str
    skip: str
    now: str
    planned: str
    systems: str
    recent: str
    incidents: str
    no_incidents: str
    all_incidents: str
    newer: str
    older: str
    back: str
    empty: str
    from_on: str
    from_to: str
    affects: str
    unmeasured: str
    uptime: str
    up: str
    no_data: str
    days_ago: str
    today: str
    span: str
    response: str
    response_said: str
    hours_ago: str
    just_now: str
    as_of: str
    stale: str
    calendar: str
    subscribe: str
    private: str
    password: str
    enter: str
    wrong: str
    too_often: str
    sign_in: str
    not_admitted: str
    missing: str
    language: str
    zone: str
    own_zone: str
    apply: str
    support: str
    reminder: str
    direction: Literal["ltr", "rtl"] = "ltr"

    def moment(self, at: datetime) -> str:
        """``21 Nov 2026, 14:05 UTC``."""
        return self._written(self.moment_form, at)

    def date(self, at: datetime) -> str:
        """``21 Nov 2026``."""
        return self._written(self.date_form, at)

    def month(self, at: datetime) -> str:
        """``November 2026``."""
        return self._written(self.month_form, at)

    def share(self, percent: float | None) -> str:
        """The percentage, never rounded up to 100: ``99.99%`` stays below."""
        if percent is None:
            return self.no_data
        number = "100" if percent >= 100 else f"{int(percent * _HUNDREDTHS) / _HUNDREDTHS:.2f}"
        return self.percent.format(number.replace(".", self.point))

    def available(self, percent: float | None) -> str:
        """``99.99% uptime``."""
        return self.no_data if percent is None else self.up.format(share=self.share(percent))

    def days(self, since: datetime, until: datetime) -> str:
        """One day, or the first and the last of several."""
        first, last = self.date(since), self.date(until)
        return first if first == last else self.span.format(since=first, until=last)

    def _written(self, form: str, at: datetime) -> str:
        utc = at.astimezone(UTC)
        return form.format(
            day=utc.day,
            number=utc.month,
            month=self.months[utc.month - 1],
            short=self.short[utc.month - 1],
            year=utc.year,
            time=f"{utc:%H:%M}",
        )
