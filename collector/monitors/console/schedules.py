"""When pings are expected, in words."""

import re
from datetime import timedelta
from typing import Final

from collector.console.render import span
from collector.heartbeats.core.heartbeat import PingSchedule

_DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_STEP: Final = re.compile(r"\*/(\d{1,3})")


def words(plan: PingSchedule) -> str:
    """``Every day at 03:00 (Europe/Berlin), at most 5 min late``; a rare expression as it is written."""
    when = f"Every {span(plan.wait)}" if plan.wait is not None else _cron(plan.cron, plan.zone)
    late = f", at most {span(plan.grace)} late" if plan.grace > timedelta() else ", on time"
    longest = f", each run at most {span(plan.max_run)} long" if plan.max_run is not None else ""
    return f"{when}{late}{longest}"


def _cron(expression: str, zone: str) -> str:
    minute, hour, day, month, weekday = expression.split()
    known = None
    if (day, month, weekday) == ("*", "*", "*"):
        known = _within_day(minute, hour)
    elif minute.isdigit() and hour.isdigit() and month == "*":
        known = _on_days(day, weekday, f"{int(hour):02}:{int(minute):02}")
    return f"{known} ({zone})" if known else f"By the cron expression {expression} ({zone})"


def _within_day(minute: str, hour: str) -> str | None:
    every = _STEP.fullmatch(minute)
    if hour == "*":
        if minute == "*":
            return "Every minute"
        if every:
            return f"Every {int(every[1])} minutes"
        return f"Every hour at minute {int(minute)}" if minute.isdigit() else None
    if minute.isdigit() and hour.isdigit():
        return f"Every day at {int(hour):02}:{int(minute):02}"
    hours = _STEP.fullmatch(hour)
    return f"Every {int(hours[1])} hours at minute {int(minute)}" if hours and minute.isdigit() else None


def _on_days(day: str, weekday: str, time: str) -> str | None:
    if day == "*" and weekday.isdigit():
        return f"Every {_DAYS[int(weekday) % len(_DAYS)]} at {time}"
    if day == "*" and weekday in ("1-5", "MON-FRI"):
        return f"Monday to Friday at {time}"
    return f"On day {int(day)} of each month at {time}" if day.isdigit() and weekday == "*" else None
