"""A copy of the desk in an SQLite file, with rows and cursor in one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from os import PathLike
from types import TracebackType
from typing import Any

from .stream import Checkpoint, Digest, Page, Removal, text_of

_SCHEMA = """
create table if not exists rows (
  id text primary key, kind text not null, updated_at text not null, body text not null
);
create index if not exists rows_by_kind on rows (kind);
create table if not exists position (
  only integer primary key check (only = 1), cursor text not null
);
"""


class SqliteCopy:
    """A copy of one kind, or of all of them.

    Example:
        with SqliteCopy("desk.db") as copy:
            for page in client.changes.follow(cursor=copy.cursor):
                copy.apply(page)
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        # Autocommit: each transaction below says where it begins.
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("pragma journal_mode = wal")
        self._db.executescript(_SCHEMA)

    @property
    def cursor(self) -> str | None:
        """Where to continue; None for an empty copy."""
        found = self._db.execute("select cursor from position").fetchone()
        return found[0] if found else None

    def apply(self, page: Page[Any]) -> None:
        """Applies a page and stores its cursor, in one transaction."""
        with closing(self._db.cursor()) as db:
            db.execute("begin immediate")
            try:
                for change in page.changes:
                    if isinstance(change, Removal):
                        db.execute("delete from rows where id = ?", [change.id])
                    else:
                        row = change.row
                        values = [row["id"], row["object"], row["updatedAt"], text_of(row)]
                        db.execute("insert or replace into rows values (?, ?, ?, ?)", values)
                db.execute("insert or replace into position values (1, ?)", [page.cursor])
                db.execute("commit")
            except BaseException:
                db.execute("rollback")
                raise

    def is_exact(self, checkpoint: Mapping[str, Checkpoint]) -> bool:
        """Whether the copy is that of the service, byte for byte. Reads every row."""
        digests = {kind: Digest() for kind in checkpoint}
        for kind, *row in self._db.execute("select kind, id, updated_at, body from rows"):
            digests.setdefault(kind, Digest()).add(*row)
        return all(
            kind in checkpoint and digest.matches(checkpoint[kind])
            for kind, digest in digests.items()
        )

    def rows(self, kind: str) -> Iterator[dict[str, Any]]:
        """The rows of a kind, such as `ticket`."""
        for (body,) in self._db.execute("select body from rows where kind = ?", [kind]):
            yield json.loads(body)

    def clear(self) -> None:
        """Empties the copy, to begin again: after `CursorTooOldError`, or if it is not exact."""
        self._db.executescript("begin immediate; delete from rows; delete from position; commit")

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> SqliteCopy:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
