# Made by npm run generate from _async.
"""One call over HTTP: address, headers, repetition, error. It knows neither kinds nor pages."""

from __future__ import annotations

import time
import json
import logging
import uuid
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

import httpx

from .._address import base_of, key_of, path_of
from .._retry import parse_retry_after, pause_before
from .._version import __version__
from ..errors import APIConnectionError, DeskwireError, error_of, unexpected

_log = logging.getLogger("deskwire")
# Bytes; the largest page of the service has some 20 MiB. A document has no largest size.
_LONGEST_ANSWER = 64 * 2**20
_LONGEST_DOCUMENT = 500 * 2**20
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class _TooLong(Exception):
    pass


class Transport:
    """Sends calls. The API key goes to the base address only: redirects are not followed."""

    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        *,
        timeout: float,
        retries: int,
        http_client: httpx.Client | None,
    ) -> None:
        self._base = base_of(base_url)
        self._headers = {
            "accept": "application/json",
            "authorization": f"Bearer {key_of(api_key)}",
            "user-agent": f"deskwire-python/{__version__}",
        }
        self._timeout = timeout
        self._retries = retries
        self._owns_http = http_client is None
        self._http = http_client or httpx.Client()

    def request(
        self,
        method: str,
        path: Iterable[str],
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
        is_document: bool = False,
    ) -> Any:
        """Returns the JSON of the answer, None for an answer without one.

        Raises:
            DeskwireError: The call failed, after the repetitions that are safe.
        """
        headers = dict(self._headers)
        if method == "POST":
            # Made once per call, so that each repetition carries the same key.
            idempotency_key = idempotency_key or str(uuid.uuid4())
            headers["idempotency-key"] = idempotency_key
        if if_match is not None:
            headers["if-match"] = if_match
        parameters = {name: one for name, one in (query or {}).items() if one is not None}
        seconds = self._timeout if timeout is None else timeout
        request = self._http.build_request(
            method,
            self._base + path_of(path),
            params=parameters,
            json=body,
            headers=headers,
            # The service may hold the answer back for so long.
            timeout=httpx.Timeout(seconds + parameters.get("wait", 0), connect=seconds),
        )
        longest = _LONGEST_DOCUMENT if is_document else _LONGEST_ANSWER
        for repetition in count():
            not_sent = False
            try:
                response = self._http.send(request, stream=True, follow_redirects=False)
                content = _read(response, longest)
                if response.status_code == 204:
                    return None
                if response.is_success:
                    return json.loads(content)
                error: DeskwireError = error_of(
                    response.status_code,
                    content.decode("utf-8", "replace"),
                    url=str(request.url.copy_with(query=None)),
                    retry_after=parse_retry_after(response.headers.get("retry-after")),
                )
                error.request_id = response.headers.get("x-request-id")
            except _TooLong:
                size = f"more than {longest >> 20} MiB"
                error = unexpected(response.status_code, f"{request.url} answered with {size}.")
            except ValueError:
                error = unexpected(response.status_code, f"{request.url} did not answer with JSON.")
            except httpx.RequestError as cause:
                not_sent = isinstance(cause, _NOT_SENT)
                error = APIConnectionError(_why(cause, request.url))
                error.__cause__ = cause
            error.idempotency_key = idempotency_key
            pause = pause_before(repetition, method, error, limit=self._retries, not_sent=not_sent)
            if pause is None:
                raise error
            _log.info("%s %s is repeated in %.1f s: %s", method, request.url.path, pause, error)
            time.sleep(pause)
        raise AssertionError("unreachable")

    def close(self) -> None:
        if self._owns_http:
            self._http.close()


def _read(response: httpx.Response, longest: int) -> bytes:
    """Reads the answer up to a limit: a service that never ends it would fill the memory."""
    pieces: list[bytes] = []
    left = longest
    try:
        for piece in response.iter_bytes():
            left -= len(piece)
            if left < 0:
                raise _TooLong
            pieces.append(piece)
    finally:
        response.close()
    return b"".join(pieces)


def _why(cause: httpx.RequestError, url: httpx.URL) -> str:
    host = url.netloc.decode()
    said = str(cause) or type(cause).__name__
    if isinstance(cause, httpx.ConnectError):
        return f"Nothing could be sent to {host}: {said}. Check the address and that it runs."
    if isinstance(cause, httpx.TimeoutException):
        return f"No complete answer from {host} in time: {said}."
    return f"No complete answer from {host}: {said}."
