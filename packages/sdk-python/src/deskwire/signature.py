"""Signs and verifies deliveries, by `X-Service-Signature` and by Standard Webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from .errors import SignatureError

if TYPE_CHECKING:
    from .models import Event


class Headers(Protocol):
    """Headers of any framework, or a dict. The case of the names does not matter."""

    def items(self) -> Iterable[tuple[str, str]]: ...


_ADVICE = {
    "missing_header": "There is no signature: not sent by Deskwire, or lost on the way here.",
    "malformed_header": "The signature's header is malformed: something on the way has changed it.",
    "timestamp_expired": "Signed too long ago: a replay, or the clock of this machine is fast.",
    "timestamp_in_future": "Signed in the future: the clock of this machine is slow.",
    "signature_mismatch": "Verify the raw bytes, not parsed JSON, with this endpoint's secret.",
    "not_an_event": "The signature is right, but the body is no event. Update this package.",
}
_ENVELOPE = ("id", "type", "apiVersion", "createdAt", "organizationId")


def verify(
    body: bytes | str,
    headers: Headers,
    secrets: str | Iterable[str],
    *,
    tolerance: float = 300,
    now: float | None = None,
) -> Event:
    """Returns the event of a delivery that one of the secrets has signed.

    Args:
        body: The raw body, before any parsing.
        headers: The headers of the request. Standard Webhooks is used where the request has no
            `X-Service-Signature`.
        secrets: The endpoint's secret, or several while a rotation lasts.
        tolerance: Seconds by which the time of signing may differ from now, either way.
        now: Unix seconds, for tests.

    Raises:
        SignatureError: Answer 400. `code` says which rule is broken.
        ValueError: A secret is missing, empty or, for Standard Webhooks, not in base64.
    """
    verify_signature(body, headers, secrets, tolerance=tolerance, now=now)
    try:
        event = json.loads(_bytes(body))
    except ValueError:
        event = None
    if (
        isinstance(event, dict)
        and all(isinstance(event.get(name), str) for name in _ENVELOPE)
        and isinstance(event.get("data"), dict)
    ):
        return event  # type: ignore[return-value]
    raise _refused("not_an_event")


def verify_signature(
    body: bytes | str,
    headers: Headers,
    secrets: str | Iterable[str],
    *,
    tolerance: float = 300,
    now: float | None = None,
) -> None:
    """As `verify`, for a body of any content: only the signature is judged."""
    known = _list(secrets)
    if own := _header(headers, "x-service-signature"):
        scheme: _Scheme = _service
        timestamp, signatures = _parse(own)
        prefix = timestamp
    else:
        scheme = _standard
        event_id, timestamp, given = (
            _header(headers, f"webhook-{name}") for name in ("id", "timestamp", "signature")
        )
        if not (event_id and timestamp and given):
            raise _refused("missing_header")
        signatures = [one for one in given.split(" ") if one.startswith("v1,")]
        prefix = f"{event_id}.{timestamp}"
    # Not isdigit() or \d: they take the digits of every script for digits.
    if not signatures or not re.fullmatch("[0-9]{1,15}", timestamp):
        raise _refused("malformed_header")

    age = (int(time.time()) if now is None else now) - int(timestamp)
    if not age <= tolerance:
        raise _refused("timestamp_expired")
    if not age >= -tolerance:
        raise _refused("timestamp_in_future")

    message = prefix.encode() + b"." + _bytes(body)
    for secret in known:
        expected = scheme(secret, message)
        # Constant time; False for another length.
        if any(hmac.compare_digest(one.encode(), expected) for one in signatures):
            return
    raise _refused("signature_mismatch")


def sign(
    body: bytes | str,
    secrets: str | Iterable[str],
    *,
    event_id: str | None = None,
    timestamp: int | None = None,
) -> dict[str, str]:
    """The headers that sign a body now; with `event_id`, those of Standard Webhooks as well."""
    at = int(time.time()) if timestamp is None else timestamp
    known, raw = _list(secrets), _bytes(body)
    own = [f"v1={_service(one, f'{at}.'.encode() + raw).decode()}" for one in known]
    headers = {"x-service-signature": ",".join([f"t={at}", *own])}
    if event_id is not None:
        message = f"{event_id}.{at}.".encode() + raw
        headers["webhook-id"] = event_id
        headers["webhook-timestamp"] = str(at)
        headers["webhook-signature"] = " ".join(_standard(one, message).decode() for one in known)
    return headers


_Scheme = Callable[[str, bytes], bytes]


def _service(secret: str, message: bytes) -> bytes:
    return hmac.new(secret.encode(), message, hashlib.sha256).hexdigest().encode()


def _standard(secret: str, message: bytes) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if not key:
        raise ValueError(
            "Standard Webhooks needs a secret in base64 with padding: rotate this one."
        )
    return b"v1," + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest())


def _parse(header: str) -> tuple[str, list[str]]:
    """The time and the signatures. Other entries are ignored; two times are malformed."""
    entries = header.split(",")
    times = [entry[2:] for entry in entries if entry.startswith("t=")]
    signatures = [entry[3:] for entry in entries if entry.startswith("v1=")]
    return (times[0] if len(times) == 1 else ""), signatures


def _header(headers: Headers, name: str) -> str:
    return ",".join(value for key, value in headers.items() if key.lower() == name)


def _list(secrets: str | Iterable[str]) -> list[str]:
    known = [secrets] if isinstance(secrets, str) else list(secrets)
    if not known or not all(known):
        raise ValueError("Give at least one signing secret (whsec_…), and none that is empty.")
    return known


def _bytes(body: bytes | str) -> bytes:
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise TypeError(
        "The body must be the raw bytes as received, not what a JSON parser made of it."
    )


def _refused(code: str) -> SignatureError:
    return SignatureError(code, _ADVICE[code])
