"""When a call is repeated, and after what pause: pure functions of what is known of the failure."""

from __future__ import annotations

import random
import re
import time
from datetime import datetime, timezone

from .errors import DeskwireError

LONGEST_RETRY_AFTER = 60.0
"""Seconds. A call that the service wants repeated later than this is not: the error is raised."""


def pause_before(
    repetition: int, method: str, error: DeskwireError, *, limit: int, not_sent: bool = False
) -> float | None:
    """Seconds to wait before repetition number `repetition` (from 0); None to raise the error.

    What was certainly not begun is repeated whatever the method. In doubt, a GET is, and a POST,
    which carries an Idempotency-Key. A PATCH or DELETE is not: had the first one worked, the
    second could overwrite what somebody else has written since.
    """
    not_begun = not_sent or error.status == 429 or error.code in ("unavailable", "request_timeout")
    in_doubt = error.is_transient
    if repetition >= limit or not (not_begun or (in_doubt and method in ("GET", "POST"))):
        return None
    asked = retry_after_of(error)
    return None if asked > LONGEST_RETRY_AFTER else asked + jitter(repetition, 0.2, 5.0)


def retry_after_of(error: DeskwireError) -> float:
    """Seconds that the service asked to wait for; 0 if it did not."""
    return error.retry_after or 0.0


def jitter(repetition: int, base: float, longest: float) -> float:
    """A random share of a bound that doubles, so that clients do not march in step."""
    return random.random() * min(longest, base * 2.0 ** min(repetition, 30))


_WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_TIME = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
_HTTP_DATES = [
    re.compile(form, re.ASCII)
    for form in (
        rf"(?P<weekday>\w{{3}}), (?P<day>\d\d) (?P<month>\w{{3}}) (?P<year>\d{{4}}) {_TIME} GMT",
        rf"(?P<weekday>\w{{3}})\w*day, (?P<day>\d\d)-(?P<month>\w{{3}})-(?P<year>\d\d) {_TIME} GMT",
        rf"(?P<weekday>\w{{3}}) (?P<month>\w{{3}}) (?P<day>[ \d]\d) {_TIME} (?P<year>\d{{4}})",
    )
]
_LONGEST = 86_400.0
"""A longer delay is read as this one: a day, in seconds."""


def parse_retry_after(value: str | None, now: float | None = None) -> float | None:
    """Seconds from `now`, at most a day, of whole seconds or an HTTP date; None for others."""
    now = time.time() if now is None else now
    text = (value or "").strip(" \t")
    delay = float(text) if re.fullmatch("[0-9]+", text) else _seconds_until(text, now)
    return None if delay is None else min(max(0.0, delay), _LONGEST)


def _seconds_until(text: str, now: float) -> float | None:
    match = next(filter(None, (form.fullmatch(text) for form in _HTTP_DATES)), None)
    if match is None:
        return None
    year, day, hour, minute, second = (
        int(match[name]) for name in ("year", "day", "hour", "minute", "second")
    )
    if len(match["year"]) == 2:
        # At most 50 years ahead.
        this_year = datetime.fromtimestamp(now, timezone.utc).year
        year += 1900 if 2000 + year > this_year + 50 else 2000
    try:
        month = _MONTHS.index(match["month"]) + 1
        date = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
    except ValueError:
        return None
    if _WEEKDAYS[date.weekday()] != match["weekday"]:
        return None
    return date.timestamp() - now
