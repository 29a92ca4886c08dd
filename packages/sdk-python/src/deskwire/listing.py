"""Pages of lists, which are for browsing. To keep a copy, use a sync."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class ListPage(Generic[Item]):
    """One page, newest first."""

    data: Sequence[Item]
    total: int
    """Rows that match, on all pages."""
    limit: int
    offset: int
    has_more: bool


def list_page_of(answer: Any) -> ListPage[Any]:
    pagination = answer["pagination"]
    return ListPage(
        data=answer["data"],
        total=pagination["total"],
        limit=pagination["limit"],
        offset=pagination["offset"],
        has_more=pagination["hasMore"],
    )


def just_after(moment: str) -> str:
    """The next millisecond."""
    later = datetime.fromisoformat(moment.replace("Z", "+00:00")) + timedelta(milliseconds=1)
    # Not strftime: it writes years before 1000 without zeros.
    return later.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
