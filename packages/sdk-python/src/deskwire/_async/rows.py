"""The rows of a list, over all of its pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Generic

from ..listing import Item, ListPage, just_after, list_page_of
from .transport import AsyncTransport

_PAGE = 100


class AsyncRows(Generic[Item]):
    """Rows that match, newest first: iterate over them, or read one page.

    Rows that are created while you iterate are not among them. Nothing is sent before.
    """

    def __init__(
        self, transport: AsyncTransport, path: Sequence[str], filters: Mapping[str, Any]
    ) -> None:
        self._transport = transport
        self._path = path
        self._filters = filters

    async def page(self, *, limit: int = 20, offset: int = 0) -> ListPage[Item]:
        """One page, for display: rows move between pages while data changes."""
        query = {**self._filters, "limit": limit, "offset": offset}
        return list_page_of(await self._transport.request("GET", self._path, query=query))

    async def to_list(self, *, limit: int | None = None) -> list[Item]:
        """The first `limit` rows, or all."""
        rows: list[Item] = []
        if limit == 0:
            return rows
        async for row in self:
            rows.append(row)
            if len(rows) == limit:
                break
        return rows

    async def __aiter__(self) -> AsyncIterator[Item]:
        """Each page begins with a row that was seen, so that a removal cannot hide one.

        Where a list takes `createdBefore`, a page is read from the moment of the last row on:
        offsets then count only rows of that moment, whatever the size of the list.
        """
        query: dict[str, Any] = {**self._filters, "limit": _PAGE}
        seen: set[Any] = set()
        moment, offset = None, 0
        while True:
            answer = await self._transport.request(
                "GET", self._path, query={**query, "offset": offset}
            )
            rows: list[Any] = answer["data"]
            if offset > 0 and (not rows or _identity(rows[0]) not in seen):
                offset = max(0, offset - _PAGE)  # rows have gone: step back
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

    @property
    def _by_moment(self) -> bool:
        """Deliveries, attempts and recoveries have no such filter."""
        return self._path[-1] not in ("deliveries", "attempts", "recoveries")


def _identity(row: Any) -> Any:
    """An attempt has no id: it counts up within its delivery."""
    return row["id"] if "id" in row else row["number"]
