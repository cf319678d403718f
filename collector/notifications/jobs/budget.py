"""Limits on concurrent deliveries by team, so that receivers that stall leave room for others."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from collector.platform.mailer import AT_A_TIME

PER_CHANNEL: Final = 8


@dataclass(frozen=True, slots=True)
class Places:
    """Limits on concurrent deliveries: below *shared* anyone may start, below *single* one per channel.

    Up to *all* only teams with fewer than *shared* deliveries under way may start one.
    *mails*: how many mails the sender's mailer hands in at once; queued mails do not count as under way.
    """

    shared: int = 500
    single: int = 1_500
    all: int = 2_000
    mails: int = AT_A_TIME


@dataclass(frozen=True, slots=True)
class SendBudget:
    """What may be started: up to *each* per channel, running ones included; nothing of *crowded* teams.

    *mails* are allowed in addition to *most* other deliveries.
    """

    most: int
    each: int
    crowded: Sequence[int] = ()
    mails: int = AT_A_TIME


def room(places: Places, flying: Counter[int], mails: int = 0) -> SendBudget:
    """What may be started; *flying*: deliveries under way by team; *mails*: how many of them are mails."""
    total, more = flying.total(), max(0, places.mails - mails)
    if total < places.shared:
        return SendBudget(places.shared - total, PER_CHANNEL, mails=more)
    if total < places.single:
        return SendBudget(places.single - total, 1, mails=more)
    crowded = sorted(team for team, count in flying.items() if count >= places.shared)
    return SendBudget(max(0, places.all - total), 1, crowded, more)
