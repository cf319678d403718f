"""The texts for subscribers that each language must have."""

from dataclasses import dataclass


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
