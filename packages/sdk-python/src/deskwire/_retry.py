"""When a call is repeated, and after what pause: pure functions of what is known of the failure."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime

from .errors import APIConnectionError, APIStatusError, DeskwireError, RateLimitError, ServerError

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
    not_begun = not_sent or isinstance(error, RateLimitError) or error.code == "unavailable"
    in_doubt = isinstance(error, (APIConnectionError, ServerError))
    if repetition >= limit or not (not_begun or (in_doubt and method in ("GET", "POST"))):
        return None
    asked = retry_after_of(error)
    return None if asked > LONGEST_RETRY_AFTER else asked + jitter(repetition, 0.2, 5.0)


def retry_after_of(error: DeskwireError) -> float:
    """Seconds that the service asked to wait for; 0 if it did not."""
    return (error.retry_after or 0.0) if isinstance(error, APIStatusError) else 0.0


def jitter(repetition: int, base: float, longest: float) -> float:
    """A random share of a bound that doubles, so that clients do not march in step."""
    return random.random() * min(longest, base * 2.0 ** min(repetition, 30))


def parse_retry_after(value: str | None) -> float | None:
    """Seconds of a Retry-After, which is a number of them or a date; None if it is neither."""
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
