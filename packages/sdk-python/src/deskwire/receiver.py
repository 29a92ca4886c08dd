"""A receiver of webhooks: verifies each delivery, does each event's work once, answers in time.

receiver = Receiver(os.environ["DESKWIRE_WEBHOOK_SECRET"])

@receiver.on("ticket.created")
def greet(event): ...

app.add_route("/hook", asgi(receiver), methods=["POST"])  # FastAPI, Starlette
app.add_url_rule("/hook", view_func=flask_view(receiver), methods=["POST"])  # Flask
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from .errors import SignatureError
from .signature import Headers, verify

if TYPE_CHECKING:
    from .models import EventType

Handler = TypeVar("Handler", bound=Callable[[Any], "Awaitable[None] | None"])

_log = logging.getLogger("deskwire")
_LARGEST_BODY = 1_048_576
_LOST_AFTER = 900.0


@dataclass(frozen=True)
class Reply:
    """What to answer. The text of a refusal says why; it holds nothing secret."""

    status: int
    text: str = ""


_DONE = Reply(204)
_GOES_ON = Reply(503, "The work of this event goes on.")
_FAILED = Reply(500, "The work of this event has failed.")


class Seen(Protocol):
    """Where it is stored which events are done: in memory, or in a table that processes share."""

    def begin(self, id: str, now: float, until: float) -> Literal["begun", "under_way", "done"]:
        """Takes the event until `until`, unless it is done, or taken until later than `now`."""

    def finish(self, id: str) -> None:
        """The work is done."""

    def release(self, id: str) -> None:
        """The work has failed: it may begin again at once."""


class SeenInMemory:
    """For one process. It forgets the oldest of more than `capacity` events."""

    def __init__(self, capacity: int = 100_000) -> None:
        self._until: OrderedDict[str, float] = OrderedDict()
        self._capacity = capacity
        self._lock = Lock()

    def begin(self, id: str, now: float, until: float) -> Literal["begun", "under_way", "done"]:
        with self._lock:
            known = self._until.get(id, 0.0)
            if known > now:
                return "done" if known == float("inf") else "under_way"
            self._until[id] = until
            if len(self._until) > self._capacity:
                self._until.popitem(last=False)
            return "begun"

    def finish(self, id: str) -> None:
        with self._lock:
            self._until[id] = float("inf")

    def release(self, id: str) -> None:
        with self._lock:
            self._until.pop(id, None)


class Receiver:
    """Calls your handlers with events that are verified, each until its work is done.

    The service waits ten seconds. Work that takes longer than `answer_within` goes on, and the
    next delivery of the event finds it done. What a handler raises is answered 500, and the event
    comes again.

    Args:
        secrets: The endpoint's secret, or several while a rotation lasts.
        seen: Where it is stored which events are done.
        answer_within: Seconds.
    """

    def __init__(
        self,
        secrets: str | Iterable[str],
        *,
        seen: Seen | None = None,
        answer_within: float = 8.0,
        tolerance: float = 300,
    ) -> None:
        self._secrets = [secrets] if isinstance(secrets, str) else list(secrets)
        if not self._secrets or not all(self._secrets):
            raise ValueError("Give at least one signing secret, and none that is empty.")
        self._seen: Seen = SeenInMemory() if seen is None else seen
        self._answer_within = answer_within
        self._tolerance = tolerance
        self._handlers: dict[str, list[Callable[[Any], Awaitable[None] | None]]] = {}
        self._threads = ThreadPoolExecutor(thread_name_prefix="deskwire")
        self._tasks: set[asyncio.Task[None]] = set()

    def on(self, *types: EventType | Literal["*"]) -> Callable[[Handler], Handler]:
        """Registers a handler, `def` or `async def`, of events of these types; `"*"` is all."""

        def register(handler: Handler) -> Handler:
            for type in types:
                self._handlers.setdefault(type, []).append(handler)
            return handler

        return register

    def receive(self, body: bytes, headers: Headers) -> Reply:
        """What to answer a delivery: 204, 400, 500 or 503."""
        begun = self._begin(body, headers)
        if isinstance(begun, Reply):
            return begun
        work: Future[None] = self._threads.submit(self._work, begun)
        try:
            work.result(self._answer_within)
        except FutureTimeoutError:
            # Of the work itself, it has failed.
            return _FAILED if work.done() else _GOES_ON
        except Exception:
            return _FAILED
        return _DONE

    async def areceive(self, body: bytes, headers: Headers) -> Reply:
        """The same on an event loop. Handlers that are `def` run in a thread."""
        # `Seen` may ask a database, which would hold up the loop.
        begun = await asyncio.to_thread(self._begin, body, headers)
        if isinstance(begun, Reply):
            return begun
        work = asyncio.ensure_future(self._awork(begun))
        self._tasks.add(work)  # or it could be collected while it runs
        work.add_done_callback(self._tasks.discard)
        done, _ = await asyncio.wait([work], timeout=self._answer_within)
        if not done:
            return _GOES_ON
        return _FAILED if work.cancelled() or work.exception() else _DONE

    def _begin(self, body: bytes, headers: Headers) -> Any:
        """The event whose work is to be done now, or what to answer."""
        try:
            event = verify(body, headers, self._secrets, tolerance=self._tolerance)
        except SignatureError as error:
            return Reply(400, error.detail)
        now = time.time()
        begun = self._seen.begin(event["id"], now, now + _LOST_AFTER)
        return event if begun == "begun" else _DONE if begun == "done" else _GOES_ON

    def _work(self, event: Any) -> None:
        try:
            for handler in self._handlers_of(event):
                result = handler(event)
                if inspect.isawaitable(result):
                    asyncio.run(_finish(result))
        except BaseException:
            _log.exception("the work of %s %s has failed", event["type"], event["id"])
            self._seen.release(event["id"])
            raise
        self._seen.finish(event["id"])

    async def _awork(self, event: Any) -> None:
        try:
            for handler in self._handlers_of(event):
                if inspect.iscoroutinefunction(handler):
                    await handler(event)
                else:
                    result = await asyncio.to_thread(handler, event)
                    if inspect.isawaitable(result):
                        await result
        except BaseException:
            _log.exception("the work of %s %s has failed", event["type"], event["id"])
            await asyncio.to_thread(self._seen.release, event["id"])
            raise
        await asyncio.to_thread(self._seen.finish, event["id"])

    def _handlers_of(self, event: Any) -> list[Callable[[Any], Awaitable[None] | None]]:
        return [*self._handlers.get(event["type"], []), *self._handlers.get("*", [])]


async def _finish(result: Awaitable[None]) -> None:
    await result


class asgi:
    """An ASGI application, for a route of FastAPI or Starlette: `add_route("/hook", asgi(r))`."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        body = b""
        more = True
        while more and len(body) <= _LARGEST_BODY:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
        reply = _unread(scope["method"], len(body)) or await self._receiver.areceive(body, headers)
        await send({"type": "http.response.start", "status": reply.status, "headers": _PLAIN})
        await send({"type": "http.response.body", "body": reply.text.encode()})


_PLAIN = [(b"content-type", b"text/plain; charset=utf-8")]


def flask_view(receiver: Receiver) -> Callable[[], tuple[str, int, dict[str, str]]]:
    """A view of Flask: `add_url_rule("/hook", view_func=flask_view(r), methods=["POST"])`."""
    from flask import request

    def deskwire_webhook() -> tuple[str, int, dict[str, str]]:
        body: bytes | None
        # What was read before is kept by Flask.
        if request.content_length is None and not _is_lost(request.environ):
            body = request.stream.read(_LARGEST_BODY + 1) or request.get_data()
        elif (request.content_length or 0) > _LARGEST_BODY:
            body = None
        else:
            body = request.get_data()
        reply = _reply(receiver, request.method, body, request.headers, request.environ)
        return reply.text, reply.status, {"content-type": "text/plain; charset=utf-8"}

    return deskwire_webhook


def wsgi(receiver: Receiver) -> Callable[[dict[str, Any], Any], list[bytes]]:
    """A WSGI application, for any server or framework of that kind."""

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        headers = {
            name[5:].replace("_", "-"): value
            for name, value in environ.items()
            if name.startswith("HTTP_")
        }
        text = environ.get("CONTENT_LENGTH") or ""
        size = int(text) if text.isascii() and text.isdigit() else _LARGEST_BODY + 1
        stream = environ["wsgi.input"]
        if text:
            body = None if size > _LARGEST_BODY else stream.read(size)
        else:  # in pieces: a server that undoes them ends the stream
            body = stream.read(size) if environ.get("wsgi.input_terminated") else b""
        reply = _reply(receiver, environ["REQUEST_METHOD"], body, headers, environ)
        status = f"{reply.status} {_REASONS.get(reply.status, 'Refused')}"
        start_response(status, [("content-type", "text/plain; charset=utf-8")])
        return [reply.text.encode()]

    return application


_REASONS = {
    204: "No Content",
    411: "Length Required",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


def _is_lost(environ: dict[str, Any]) -> bool:
    """Whether the body comes in pieces that this server does not put together."""
    chunked = "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower()
    return chunked and not environ.get("wsgi.input_terminated")


def _reply(
    receiver: Receiver, method: str, body: bytes | None, headers: Any, environ: dict[str, Any]
) -> Reply:
    """What to answer a request of WSGI; the body is None where it is too large."""
    size = _LARGEST_BODY + 1 if body is None else len(body)
    if method == "POST" and body is not None and _is_lost(environ):
        return Reply(411, "Send the delivery with a Content-Length: this server reads no pieces.")
    return _unread(method, size) or receiver.receive(body or b"", headers)


def _unread(method: str, size: int) -> Reply | None:
    if method != "POST":
        return Reply(405, "Deliveries are POSTed here.")
    return Reply(413, "This is larger than any delivery.") if size > _LARGEST_BODY else None
