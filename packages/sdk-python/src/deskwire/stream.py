"""The ordered stream of changes: its pages, how a copy applies them, and the proof at the end."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypedDict, TypeVar

from .errors import unexpected

Row = TypeVar("Row", bound=Mapping[str, Any])
ReadRow = TypeVar("ReadRow", bound=Mapping[str, Any], covariant=True)

BEGINNING = "1970-01-01T00:00:00.000Z"


class Checkpoint(TypedDict):
    """What an exact copy of one kind has: a count and two sums, over versions and over bytes."""

    count: int
    digest: str
    contentDigest: str | None


@dataclass(frozen=True)
class Upsert(Generic[ReadRow]):
    """A row that was created or changed, as it is now."""

    row: ReadRow


@dataclass(frozen=True)
class Removal:
    """A row that was removed. For a row that the copy does not hold it means nothing."""

    id: str
    kind: str
    removed_at: str


@dataclass(frozen=True)
class Page(Generic[Row]):
    """A page of a sync. Store `cursor` with the changes, in one transaction, or after them."""

    changes: Sequence[Upsert[Row] | Removal]
    """In the order of the commits; empty if nothing has changed."""
    cursor: str
    """Continues after this page. It never expires."""
    has_more: bool
    total: int
    """How many rows exist."""
    checkpoint: Mapping[str, Checkpoint] | None
    """By kind, on the page that has caught up: compare it with `is_exact`."""


def apply(rows: MutableMapping[str, Row], page: Page[Row]) -> None:
    """Applies a page to rows by id. Applying a page twice does no harm."""
    for change in page.changes:
        if isinstance(change, Removal):
            rows.pop(change.id, None)
        else:
            rows[change.row["id"]] = change.row


def is_exact(rows: Iterable[Mapping[str, Any]], checkpoint: Mapping[str, Checkpoint]) -> bool:
    """Whether these rows, of all kinds of the checkpoint, are the service's, byte by byte."""
    digests = {kind: Digest() for kind in checkpoint}
    for row in rows:
        digests.setdefault(row["object"], Digest()).add(row["id"], row["updatedAt"], text_of(row))
    return all(
        kind in checkpoint and digest.matches(checkpoint[kind]) for kind, digest in digests.items()
    )


def checkpoint_of(rows: Iterable[Mapping[str, Any]]) -> Checkpoint:
    """The checkpoint of the rows of one kind."""
    digest = Digest()
    for row in rows:
        digest.add(row["id"], row["updatedAt"], text_of(row))
    return digest.checkpoint


class Digest:
    """A checkpoint that is computed row by row. The order of the rows does not matter."""

    def __init__(self) -> None:
        self._count = self._versions = self._contents = 0

    def add(self, id: str, updated_at: str, text: str) -> None:
        """Counts a row in: `updated_at` as the service sent it, and `text`, the row's JSON."""
        self._count += 1
        self._versions += _term(f"{id}:{updated_at}")
        self._contents += _term(text)

    @property
    def checkpoint(self) -> Checkpoint:
        return {
            "count": self._count,
            "digest": _hex(self._versions),
            "contentDigest": _hex(self._contents),
        }

    def matches(self, expected: Checkpoint) -> bool:
        """Whether they are equal. For a while after an upgrade the service has no contentDigest."""
        held = self.checkpoint
        if expected["contentDigest"] is None:
            held["contentDigest"] = None
        return all(held[name] == expected[name] for name in ("count", "digest", "contentDigest"))


def text_of(row: Mapping[str, Any]) -> str:
    """The JSON of a row, byte for byte as the service sent it."""
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    # Python writes small numbers otherwise than the service, which is written in JavaScript.
    return _SMALL.sub(_as_served, text) if "e-0" in text else text


_SMALL = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9.]+e-0[0-9]')


def _as_served(match: re.Match[str]) -> str:
    found = match[0]
    if found.startswith('"'):
        return found
    return format(Decimal(found), "f") if found[-1] in "56" else found.replace("e-0", "e-")


def _term(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _hex(total: int) -> str:
    return f"{total % 2**64:016x}"


def page_of(answer: Any, kind: str | None) -> Page[Any]:
    """Reads an answer: of the stream of one kind or, without one, of all kinds."""
    try:
        pagination = answer["pagination"]
        checkpoint = pagination.get("checkpoint")
        return Page(
            changes=[change_of(record) for record in answer["data"]],
            cursor=pagination["nextCursor"],
            has_more=pagination["hasMore"],
            total=pagination["total"],
            checkpoint={kind: checkpoint} if checkpoint and kind else checkpoint,
        )
    except (KeyError, TypeError, AttributeError):
        raise unexpected(200, "The answer is no page of a sync.") from None


def change_of(record: Any) -> Upsert[Any] | Removal:
    """A record of the stream as a change."""
    # `object` first: a removal record has no other field of a row.
    if record["object"] == "removed":
        return Removal(record["id"], record["resource"], record["removedAt"])
    return Upsert(record)
