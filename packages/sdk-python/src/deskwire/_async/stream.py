"""The ordered stream of one kind's changes, or of all kinds', page by page."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from typing import Any, Generic, Literal

import httpx

from .._retry import jitter, retry_after_of
from ..errors import ConnectionFailedError, DeskwireError, error_of, unexpected
from ..stream import (
    BEGINNING,
    Checkpoint,
    Digest,
    Page,
    Removal,
    Row,
    Upsert,
    change_of,
    page_of,
)
from .transport import AsyncTransport

_log = logging.getLogger("deskwire")
_LONGEST_WAIT = 50
_IDS_OF_CALL = 100
_PROVED: tuple[Literal["count"], Literal["digest"]] = ("count", "digest")


class AsyncStream(Generic[Row]):
    """Changes in the order of their commits."""

    def __init__(self, transport: AsyncTransport, name: str, kind: str | None = None) -> None:
        self._transport = transport
        self._name = name
        self.kind = kind

    async def sync(
        self, *, cursor: str | None = None, updated_after: str | None = None, limit: int = 100
    ) -> AsyncIterator[Page[Row]]:
        """Yields pages until caught up: at least one, the last with `has_more` False.

        Args:
            cursor: Where an earlier sync stopped. Without it the sync begins with everything.
            updated_after: Begins later than this moment, instead of with everything.
            limit: Rows per page, 100 at most.

        Raises:
            CursorTooOldError: The service was restored from a backup: begin an empty copy.
        """
        while True:
            page = await self._page(cursor, updated_after, limit)
            yield page
            if not page.has_more:
                return
            cursor = page.cursor

    async def follow(
        self,
        *,
        cursor: str | None = None,
        updated_after: str | None = None,
        limit: int = 100,
        wait: int = _LONGEST_WAIT,
        on_failure: Callable[[DeskwireError, float], None] | None = None,
    ) -> AsyncIterator[Page[Row]]:
        """A sync that does not end: it reads a stream of events, or waits for changes where there
        is none, and continues after failures.

        The first page comes in any case, later ones when something has changed. Connection errors,
        429 and 5xx are waited out for as long as it takes; everything else is raised.

        Args:
            wait: Seconds, 50 at most, for which the service holds an empty answer.
            on_failure: Called with each failure and the seconds until the next attempt.
        """
        failures = 0
        first = streams = True
        while True:
            began = time.monotonic()
            is_new = has_come = False
            # The first answer is not held back: it tells the caller where it is.
            pages = self._pages(cursor, updated_after, limit, 0 if first else wait, streams)
            try:
                async for page in pages:
                    failures = 0
                    has_come = True
                    is_new = first or bool(page.changes) or page.cursor != cursor
                    first, cursor = False, page.cursor
                    if is_new:
                        yield page
            except DeskwireError as error:
                if not error.is_transient:
                    raise
                # Something in between may collect a stream to its end, with its first page; or the
                # key has all that it may.
                timed_out = isinstance(error.__cause__, httpx.ReadTimeout)
                if not has_come and (timed_out or error.status == 429):
                    streams = False
                pause = retry_after_of(error) + jitter(failures, 1.0, 30.0)
                failures += 1
                _log.warning("following again in %.1f s: %s", pause, error)
                if on_failure is not None:
                    on_failure(error, pause)
                await asyncio.sleep(pause)
                continue
            finally:
                await pages.aclose()
            if not is_new and time.monotonic() - began < 1.0:
                # It was not held back, and would not be if it were asked again at once.
                await asyncio.sleep(1.0)

    async def _pages(
        self,
        cursor: str | None,
        updated_after: str | None,
        limit: int,
        wait: int,
        streams: bool,
    ) -> AsyncGenerator[Page[Row]]:
        """The pages of a stream of events until it ends; without one, the next page."""
        query = _query(cursor, updated_after, limit, wait)
        events = self._transport.events([self._name], query, streams)
        # A page that has caught up waits for its checkpoint.
        last: Any = None
        try:
            async for kind, data in events:
                if kind is None:
                    yield self._page_of(data, cursor)
                    return
                if kind == "checkpoint" and last is not None:
                    last["pagination"]["checkpoint"] = json.loads(data)
                if last is not None:
                    yield self._page_of(last, cursor)
                    last = None
                if kind == "end":
                    error = error_of(json.loads(data)["status"], data.decode(), url=self._name)
                    if not error.is_transient:
                        raise error
                    return
                if kind == "page":
                    last = json.loads(data)
                    if last["pagination"]["hasMore"]:
                        yield self._page_of(last, cursor)
                        cursor, last = last["pagination"]["nextCursor"], None
        except (ValueError, KeyError, TypeError):
            raise unexpected(200, "An event of the stream is no page.") from None
        finally:
            await events.aclose()

    async def _page(self, cursor: str | None, updated_after: str | None, limit: int) -> Page[Row]:
        query = _query(cursor, updated_after, limit, 0)
        return self._page_of(
            await self._transport.request("GET", [self._name], query=query), cursor
        )

    def _page_of(self, answer: Any, cursor: str | None) -> Page[Row]:
        page = page_of(answer, self.kind)
        if page.has_more and page.cursor == cursor:
            raise unexpected(200, "There is more, but the cursor does not move.")
        return page


def _query(cursor: str | None, updated_after: str | None, limit: int, wait: int) -> dict[str, Any]:
    start = {"cursor": cursor} if cursor else {"updatedAfter": updated_after or BEGINNING}
    return {**start, "limit": limit, "wait": wait or None}


class AsyncExport(Generic[Row]):
    """All rows of a kind as one answer: iterate over its changes, and apply each to a copy.

    Rows that change meanwhile come again, and removals of rows that came before. The end is a
    proof: `ConnectionFailedError` is raised instead where the changes are not those of the
    checkpoint, or the answer breaks off. Nothing is sent before the iteration.
    """

    def __init__(self, transport: AsyncTransport, name: str) -> None:
        self._transport = transport
        self._name = name
        self.cursor: str | None = None
        """Where a sync goes on from the end; None until then."""
        self.checkpoint: Checkpoint | None = None
        """What the rows were proved by; None as long as `cursor` is."""

    async def __aiter__(self) -> AsyncIterator[Upsert[Row] | Removal]:
        self.cursor = self.checkpoint = None
        versions: dict[str, str] = {}
        end: Any = None
        async for line in self._transport.lines([self._name, "export"]):
            record = json.loads(line)
            if record["object"] == "export_end":
                end = record
                continue
            change = change_of(record)
            if isinstance(change, Removal):
                versions.pop(change.id, None)
            else:
                versions[change.row["id"]] = change.row["updatedAt"]
            yield change
        if end is None:
            raise ConnectionFailedError("The export broke off before its last line.")
        digest = Digest()
        for id, updated_at in versions.items():
            digest.add(id, updated_at, "")
        if any(digest.checkpoint[part] != end["checkpoint"][part] for part in _PROVED):
            raise unexpected(200, "The rows of the export are not those of its checkpoint.")
        self.cursor, self.checkpoint = end["nextCursor"], end["checkpoint"]


class AsyncKind(AsyncStream[Row]):
    """What every kind of the stream has, besides its own calls."""

    kind: str

    def export(self) -> AsyncExport[Row]:
        """Every row of the kind, proved complete at the end; its cursor begins a sync."""
        return AsyncExport(self._transport, self._name)

    async def get_many(self, ids: Iterable[str]) -> list[Row]:
        """The rows with these ids, in no order; those that do not exist are left out."""
        left = list(dict.fromkeys(ids))
        rows: list[Row] = []
        while left:
            query = {"ids": ",".join(left[:_IDS_OF_CALL])}
            answer = await self._transport.request("GET", [self._name], query=query)
            rows.extend(answer["data"])
            del left[:_IDS_OF_CALL]
        return rows
