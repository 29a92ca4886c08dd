"""One call over HTTP: address, headers, repetition, error. It knows neither kinds nor pages."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from itertools import count
from typing import Any

import httpx

from .._address import base_of, environment_error, key_of, url_of
from .._retry import parse_retry_after, pause_before
from .._version import __version__
from ..errors import ConnectionFailedError, DeskwireError, error_of, unexpected

_log = logging.getLogger("deskwire")
# Bytes; the largest page of the service has some 20 MiB. A document has no largest size.
_LONGEST_ANSWER = 64 * 2**20
_LONGEST_DOCUMENT = 500 * 2**20
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class _TooLong(Exception):
    pass


class AsyncTransport:
    """Sends calls. The API key goes to the base address only: redirects are not followed."""

    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        *,
        timeout: float,
        retries: int,
        http_client: httpx.AsyncClient | None,
    ) -> None:
        self._base = base_of(base_url)
        self._headers = {
            "accept": "application/json",
            "authorization": f"Bearer {key_of(api_key)}",
            "user-agent": f"deskwire-python/{__version__}",
        }
        self._timeout = _above_zero(timeout)
        self._retries = retries
        self._owns_http = http_client is None
        self._http = http_client or _http_of_environment()

    async def request(
        self,
        method: str,
        path: Iterable[str],
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        if_none_match: str | None = None,
        timeout: float | None = None,
        is_document: bool = False,
        stream: str | None = None,
    ) -> Any:
        """Returns the JSON of the answer, None for 204 and 304; of type `stream` as it arrives.

        Raises:
            DeskwireError: The call failed, after the repetitions that are safe.
        """
        headers = dict(self._headers)
        if stream is not None:
            headers["accept"] = f"{stream}, application/json;q=0.9, application/problem+json;q=0.9"
        if method == "POST":
            # Made once per call, so that each repetition carries the same key.
            idempotency_key = idempotency_key or str(uuid.uuid4())
            headers["idempotency-key"] = idempotency_key
        if if_match is not None:
            headers["if-match"] = if_match
        if if_none_match is not None:
            headers["if-none-match"] = if_none_match
        parameters = {
            name: _text_of(name, one) for name, one in (query or {}).items() if one is not None
        }
        content = None if body is None else _json(body)
        if content is not None:
            headers["content-type"] = "application/json"
        seconds = self._timeout if timeout is None else _above_zero(timeout)
        held = seconds + float(parameters.get("wait", 0))
        request = self._http.build_request(
            method,
            url_of(self._base, path),
            params=parameters,
            content=content,
            headers=headers,
            # The service may hold the answer back for so long.
            timeout=httpx.Timeout(_or_none(held), connect=_or_none(seconds)),
        )
        longest = _LONGEST_DOCUMENT if is_document else _LONGEST_ANSWER
        for repetition in count():
            not_sent = False
            end = None if is_document else time.monotonic() + held
            try:
                response = await self._http.send(request, stream=True, follow_redirects=False)
                media_type = response.headers.get("content-type", "")
                if stream is not None and response.is_success and media_type.startswith(stream):
                    return response
                answer = await _read(response, longest, end)
                if response.status_code in (204, 304):
                    return None
                if response.is_success:
                    return json.loads(answer)
                error: DeskwireError = error_of(
                    response.status_code,
                    answer.decode("utf-8", "replace"),
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
                error = ConnectionFailedError(_why(cause, request.url))
                error.__cause__ = cause
            error.idempotency_key = idempotency_key
            pause = pause_before(repetition, method, error, limit=self._retries, not_sent=not_sent)
            if pause is None:
                raise error
            _log.info("%s %s is repeated in %.1f s: %s", method, request.url.path, pause, error)
            await asyncio.sleep(pause)
        raise AssertionError("unreachable")

    async def lines(self, path: Iterable[str]) -> AsyncIterator[bytes]:
        """The lines of an answer as they arrive; what follows the last line break is no line.

        Raises:
            ConnectionFailedError: It broke off. Reading on is not repeated.
        """
        response = await self.request("GET", path, stream="application/x-ndjson")
        if not isinstance(response, httpx.Response):
            raise unexpected(200, "The answer is no export.")
        lines = self._lines_of(response)
        try:
            async for line in lines:
                yield line
        finally:
            await lines.aclose()

    async def events(
        self, path: Iterable[str], query: Mapping[str, Any], streams: bool
    ) -> AsyncGenerator[tuple[str, bytes] | tuple[None, Any]]:
        """The events of a stream, as type and data; of any other answer its JSON, without a type.

        Raises:
            ConnectionFailedError: It broke off. Reading on is not repeated.
        """
        wanted = "text/event-stream" if streams else None
        response = await self.request("GET", path, query=query, stream=wanted)
        if not isinstance(response, httpx.Response):
            yield None, response
            return
        kind = ""
        lines = self._lines_of(response)
        try:
            async for line in lines:
                if line.startswith(b"event: "):
                    kind = line[7:].decode()
                elif line.startswith(b"data: "):
                    yield kind, line[6:]
        finally:
            await lines.aclose()
        raise ConnectionFailedError("The stream broke off.")

    async def _lines_of(self, response: httpx.Response) -> AsyncGenerator[bytes]:
        rest = b""
        try:
            async for piece in response.aiter_bytes():
                # Not by httpx, which takes U+2028 within a text for the end of a line.
                first, *others = piece.split(b"\n")
                rest += first
                for line in others:
                    yield rest
                    rest = line
                if len(rest) > _LONGEST_ANSWER:
                    raise unexpected(200, "A line of the answer does not end.")
        except httpx.RequestError as cause:
            raise ConnectionFailedError(_why(cause, response.request.url)) from cause
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        if self._owns_http:
            await self._http.aclose()


def _http_of_environment() -> httpx.AsyncClient:
    """A client for the proxies and certificates that the environment names."""
    try:
        return httpx.AsyncClient()
    except (ImportError, OSError, ValueError, httpx.InvalidURL) as cause:
        raise environment_error(cause) from cause


def _text_of(name: str, value: Any) -> str | int | float:
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Iterable):
        words = list(value)
        if all(isinstance(one, str) for one in words):
            return ",".join(words)
    raise TypeError(f"{name} must be a text, a number or a list of texts, not {value!r}")


def _above_zero(timeout: float) -> float:
    if timeout > 0:
        return timeout
    raise ValueError(f"timeout must be above 0, not {timeout}")


def _or_none(seconds: float) -> float | None:
    """Sockets know no infinite time."""
    return None if seconds == float("inf") else seconds


async def _read(response: httpx.Response, longest: int, end: float | None) -> bytes:
    """Reads the answer up to a limit: without one it could fill the memory, or take for ever."""
    pieces: list[bytes] = []
    left = longest
    try:
        async for piece in response.aiter_bytes():
            left -= len(piece)
            if left < 0:
                raise _TooLong
            if end is not None and time.monotonic() > end:
                raise httpx.ReadTimeout("it was not complete", request=response.request)
            pieces.append(piece)
    finally:
        await response.aclose()
    return b"".join(pieces)


def _json(body: Any) -> bytes:
    """A body as it is meant: a float that JSON does not have is a ValueError."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _why(cause: httpx.RequestError, url: httpx.URL) -> str:
    host = url.netloc.decode()
    said = str(cause) or type(cause).__name__
    if isinstance(cause, httpx.ConnectError):
        return f"Nothing could be sent to {host}: {said}. Check the address and that it runs."
    if isinstance(cause, httpx.TimeoutException):
        return f"No complete answer from {host} in time: {said}."
    return f"No complete answer from {host}: {said}."
