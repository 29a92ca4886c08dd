"""Everything that the client raises for a call that failed, a class per family.

DeskwireError
├── ConnectionFailedError     no complete answer of a Deskwire service arrived
├── APIStatusError            the service answered with an error
│   ├── InvalidRequestError   400, 405, 413, 415, 422, 431
│   ├── AuthenticationError   401
│   ├── PermissionDeniedError 403
│   ├── NotFoundError         404
│   ├── ConflictError         409, 412
│   ├── CursorTooOldError     410: the service was restored, so begin an empty copy
│   ├── RateLimitError        429
│   └── ServerError           408, 5xx
└── SignatureError            a delivery that is not signed as it should be
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .models import ErrorCode, FieldError


class DeskwireError(Exception):
    """Base class of all errors of this package.

    Attributes:
        code: What to decide by.
        status: The HTTP status; 0 when no answer arrived.
        detail: What is wrong and what to do next, for people.
        request_id: Quote it when you ask the operator for help.
        idempotency_key: The key that a POST was sent with, also if the client made it. Repeat the
            call with it to be sure that its work is done once.
    """

    request_id: str | None = None
    idempotency_key: str | None = None
    status: int = 0
    retry_after: float | None = None

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code: ErrorCode | str = code
        self.detail = detail

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed later: no answer, 408, 429 and 5xx."""
        is_connection = isinstance(self, ConnectionFailedError) and self.status == 0
        return is_connection or self.status in (408, 429) or self.status >= 500


class ConnectionFailedError(DeskwireError):
    """No complete answer of a Deskwire service arrived. Whether the work was done is unknown.

    `connection_failed`: `__cause__` says why. `unexpected_answer`: something answered with
    `status` that is no Deskwire service, a proxy for example.
    """

    def __init__(self, detail: str, *, code: str = "connection_failed", status: int = 0) -> None:
        super().__init__(code, detail)
        self.status = status


class APIStatusError(DeskwireError):
    """An answer that is not a success.

    Attributes:
        errors: For `validation_failed`, every wrong place of the body.
        problem: The whole body, with members that belong to one code, such as `existingId`.
        retry_after: Seconds that the service asked to wait for.
    """

    def __init__(
        self, status: int, problem: Mapping[str, Any], *, retry_after: float | None = None
    ) -> None:
        super().__init__(problem["code"], problem["detail"])
        self.status = status
        self.problem = problem
        self.errors: Sequence[FieldError] = problem.get("errors", [])
        self.retry_after = retry_after


class InvalidRequestError(APIStatusError):
    """The request is not acceptable as it is."""


class AuthenticationError(APIStatusError):
    """The API key is missing, wrong, revoked or expired."""


class PermissionDeniedError(APIStatusError):
    """The API key lacks a scope, or its organization is suspended."""


class NotFoundError(APIStatusError):
    """There is no such object."""


class ConflictError(APIStatusError):
    """The state or the version of an object does not allow this."""


class CursorTooOldError(APIStatusError):
    """The service went back to an older backup: empty the copy and sync from the beginning."""


class RateLimitError(APIStatusError):
    """Too many requests. Nothing was done."""


class ServerError(APIStatusError):
    """The service, or a proxy in front of it, failed."""


class SignatureError(DeskwireError):
    """A delivery that was not signed with one of the secrets, or that is too old. Answer it 400."""


_FAMILIES: Mapping[int, type[APIStatusError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    405: InvalidRequestError,
    408: ServerError,
    409: ConflictError,
    410: CursorTooOldError,
    412: ConflictError,
    413: InvalidRequestError,
    415: InvalidRequestError,
    422: InvalidRequestError,
    429: RateLimitError,
    431: InvalidRequestError,
}


def error_of(
    status: int, body: str, *, url: str, retry_after: float | None = None
) -> DeskwireError:
    """The error for an answer with this status."""
    family = ServerError if status >= 500 else _FAMILIES.get(status, InvalidRequestError)
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    if not (
        isinstance(problem, dict)
        and isinstance(problem.get("code"), str)
        and isinstance(problem.get("detail"), str)
    ):
        return unexpected(status, f"{url} did not answer as Deskwire does: {body[:200]}")
    return family(status, problem, retry_after=retry_after)


def unexpected(status: int, detail: str) -> ConnectionFailedError:
    """The error for an answer that a Deskwire service does not give: a proxy's, for example.

    It has no family of its status: an object is not gone because a proxy knows no such page.
    """
    hint = "Check the base address and proxies."
    return ConnectionFailedError(f"{detail} {hint}", code="unexpected_answer", status=status)
