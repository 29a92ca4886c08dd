# Made by npm run generate from _async.
"""The rows of a list, over all of its pages."""

from __future__ import annotations

from collections.abc import Iterator, Callable, Mapping, Sequence
from typing import Any, Generic

from ..listing import Item, ListPage, just_after, list_page_of
from .transport import Transport

_PAGE = 100


class Rows(Generic[Item]):
    """Rows that match, newest first: iterate over them, or read one page.

    Rows that are created while you iterate are not among them. Nothing is sent before.
    """

    def __init__(
        self,
        transport: Transport,
        path: Sequence[str],
        filters: Mapping[str, Any],
        *,
        by_moment: bool = False,
    ) -> None:
        self._transport = transport
        self._path = path
        self._filters = with_null(filters)
        self._by_moment = by_moment

    def page(self, *, limit: int = 20, offset: int = 0) -> ListPage[Item]:
        """One page, for display: rows move between pages while data changes."""
        query = {**self._filters, "limit": limit, "offset": offset}
        return list_page_of(self._transport.request("GET", self._path, query=query))

    def to_list(self, *, limit: int | None = None) -> list[Item]:
        """The first `limit` rows, or all."""
        # Pages overlap by a row, so one row a page would never end.
        rows = self._rows(_PAGE if limit is None else max(2, min(limit, _PAGE)))
        return _first_of(rows, limit)

    def __iter__(self) -> Iterator[Item]:
        return self._rows(_PAGE)

    def _rows(self, size: int) -> Iterator[Item]:
        """Each page begins with a row that was seen, so that a removal cannot hide one.

        Where a list takes `createdBefore`, a page is read from the moment of the last row on:
        offsets then count only rows of that moment, whatever the size of the list.
        """
        query: dict[str, Any] = {**self._filters, "limit": size}
        seen: set[Any] = set()
        moment, offset = None, 0
        while True:
            answer = self._transport.request(
                "GET", self._path, query={**query, "offset": offset}
            )
            rows: list[Any] = answer["data"]
            if offset > 0 and (not rows or _identity(rows[0]) not in seen):
                offset = max(0, offset - size)  # rows have gone: step back
                continue
            for row in rows:
                if _identity(row) not in seen:
                    yield row
                    seen.add(_identity(row))
            if not answer["pagination"]["hasMore"]:
                return
            last = rows[-1].get("createdAt")
            if self._by_moment and last != moment:
                moment = last
                query["createdBefore"] = just_after(last)
                seen = {row["id"] for row in rows if row["createdAt"] == last}
                offset = len(seen) - 1
            else:
                offset += len(rows) - 1


class Pages(Generic[Item]):
    """Rows of pages of which each names the next: iterate over them, or read one page."""

    def __init__(
        self,
        transport: Transport,
        path: Sequence[str],
        filters: Mapping[str, Any],
        following: Callable[[Any], Mapping[str, Any]],
    ) -> None:
        self._transport = transport
        self._path = path
        self._filters = with_null(filters)
        self._following = following

    def page(self, **query: Any) -> Any:
        """One page as the API answers it: `limit`, and what says where it begins."""
        return self._transport.request("GET", self._path, query={**self._filters, **query})

    def to_list(self, *, limit: int | None = None) -> list[Item]:
        """The first `limit` rows, or all."""
        size: Mapping[str, Any] = {} if limit is None else {"limit": min(limit, _PAGE)}
        return _first_of(self._rows(size), limit)

    def __iter__(self) -> Iterator[Item]:
        return self._rows({})

    def _rows(self, size: Mapping[str, Any]) -> Iterator[Item]:
        query = size
        while True:
            answer = self.page(**query)
            for row in answer["data"]:
                yield row
            if not answer["pagination"]["hasMore"]:
                return
            query = {**size, **self._following(answer)}


def _first_of(all: Iterator[Item], limit: int | None) -> list[Item]:
    rows: list[Item] = []
    if limit is not None and limit <= 0:
        return rows
    for row in all:
        rows.append(row)
        if len(rows) == limit:
            break
    return rows


def by_cursor(answer: Any) -> Mapping[str, Any]:
    """The next page of events: a cursor goes without `createdAfter`."""
    return {"cursor": answer["pagination"]["nextCursor"], "createdAfter": None}


def by_wait(answer: Any) -> Mapping[str, Any]:
    """The next page of the inbox: after a conversation, and since when its customer waits."""
    last = answer["data"][-1]
    return {"after": last["conversation"]["id"], "afterSince": last["awaitingReplySince"]}


def with_null(filters: Mapping[str, Any]) -> Mapping[str, Any]:
    """A filter that is None finds what has none: left out, it would find everything.

    Raises:
        TypeError: It is no filter, but says which page: iterating would pass over it.
    """
    for name in ("limit", "offset", "cursor"):
        if name in filters:
            raise TypeError(f"a list has no filter {name}: give it to page() or to_list()")
    return {name: "null" if one is None else one for name, one in filters.items()}


def _identity(row: Any) -> Any:
    """An attempt has no id: it counts up within its delivery."""
    return row["id"] if "id" in row else row["number"]
