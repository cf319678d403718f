"""When pings are expected, in words."""

import re
from datetime import timedelta
from typing import Final

from collector.console.language import gettext, translate
from collector.console.render import span
from collector.heartbeats.core.heartbeat import PingSchedule

_DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_STEP: Final = re.compile(r"\*/(\d{1,3})")


def words(plan: PingSchedule) -> str:
    """``Every day at 03:00 (Europe/Berlin), at most 5 min late``; a rare expression as it is written."""
    when = (
        gettext("Every %(length)s", length=span(plan.wait))
        if plan.wait is not None
        else _cron(plan.cron, plan.zone)
    )
    late = (
        gettext("at most %(length)s late", length=span(plan.grace))
        if plan.grace > timedelta()
        else gettext("on time")
    )
    longest = (
        gettext("each run at most %(length)s long", length=span(plan.max_run))
        if plan.max_run is not None
        else ""
    )
    return ", ".join(filter(None, (when, late, longest)))


def _cron(expression: str, zone: str) -> str:
    minute, hour, day, month, weekday = expression.split()
    known = None
    if (day, month, weekday) == ("*", "*", "*"):
        known = _within_day(minute, hour)
    elif minute.isdigit() and hour.isdigit() and month == "*":
        known = _on_days(day, weekday, f"{int(hour):02}:{int(minute):02}")
    return (
        f"{known} ({zone})"
        if known
        else gettext("By the cron expression %(cron)s (%(zone)s)", cron=expression, zone=zone)
    )


def _within_day(minute: str, hour: str) -> str | None:
    every = _STEP.fullmatch(minute)
    if hour == "*":
        if minute == "*":
            return gettext("Every minute")
        if every:
            return gettext("Every %(count)s minutes", count=int(every[1]))
        return gettext("Every hour at minute %(minute)s", minute=int(minute)) if minute.isdigit() else None
    if minute.isdigit() and hour.isdigit():
        return gettext("Every day at %(time)s", time=f"{int(hour):02}:{int(minute):02}")
    hours = _STEP.fullmatch(hour)
    if hours and minute.isdigit():
        return gettext("Every %(count)s hours at minute %(minute)s", count=int(hours[1]), minute=int(minute))
    return None


def _on_days(day: str, weekday: str, time: str) -> str | None:
    if day == "*" and weekday.isdigit():
        return gettext(
            "Every %(day)s at %(time)s", day=translate(_DAYS[int(weekday) % len(_DAYS)]), time=time
        )
    if day == "*" and weekday in ("1-5", "MON-FRI"):
        return gettext("Monday to Friday at %(time)s", time=time)
    if day.isdigit() and weekday == "*":
        return gettext("On day %(day)s of each month at %(time)s", day=int(day), time=time)
    return None
