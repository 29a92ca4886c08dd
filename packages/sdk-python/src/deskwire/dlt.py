"""A dlt source: each kind an incremental resource whose rows merge by id, and a proof of the copy.

Example:
    pipeline = dlt.pipeline("deskwire", destination="bigquery", dataset_name="desk")
    pipeline.run(deskwire())
    assert all(prove(pipeline).values())
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import dlt
from dlt.common.typing import TSecretStrValue
from dlt.extract import DltResource

from . import models
from ._sync.client import Client
from ._sync.stream import Kind
from .errors import CursorTooOldError, DeskwireError
from .stream import Digest, Removal

_NAME = "deskwire"
_TYPES = {bool: "bool", int: "bigint", float: "double", str: "text"}
_ROWS_OF_PIECE = 10_000


@dlt.source(name=_NAME, section=_NAME, max_table_nesting=0)
def deskwire(
    base_url: str | None = None,
    api_key: TSecretStrValue | None = None,
    kinds: Sequence[str] | None = None,
) -> Iterator[DltResource]:
    """A resource and a table per kind, such as `tickets`. Columns are those of this release.

    Args:
        base_url: Default: `DESKWIRE_URL`.
        api_key: Default: `DESKWIRE_API_KEY`.
        kinds: The tables to load. Default: all that the key may read.
    """
    client = Client(base_url, api_key)
    readable = _readable(client)
    streams = {name: one for name, one in vars(client).items() if isinstance(one, Kind)}
    for name in kinds or [name for name, one in streams.items() if one.kind in readable]:
        if name not in streams:
            raise ValueError(f"There is no kind {name!r}; there are {', '.join(streams)}.")
        resource = _changes(streams[name]).with_name(name)
        yield resource.apply_hints(columns=_columns(streams[name].kind))


def prove(pipeline: dlt.Pipeline) -> dict[str, bool]:
    """Whether each table of the destination holds what the service had at the last load.

    Reads ids and versions of every row, and compares their count and digest with the checkpoint.
    """
    if pipeline.has_pending_data:
        raise DeskwireError("pending", "A load was interrupted. Run the pipeline, then prove it.")
    resources = pipeline.state.get("sources", {}).get(_NAME, {}).get("resources", {})
    proofs = {}
    for name, state in resources.items():
        digest = Digest()
        with pipeline.sql_client() as client:
            columns = ", ".join(map(client.escape_column_name, ("id", "updated_at")))
            table = client.make_qualified_table_name(name)
            with client.execute_query(f"select {columns} from {table}") as rows:
                while piece := rows.fetchmany(_ROWS_OF_PIECE):
                    for id, updated_at in piece:
                        digest.add(str(id), _served(updated_at), "")
        held, expected = digest.checkpoint, state["checkpoint"]
        proofs[name] = all(held[part] == expected[part] for part in ("count", "digest"))
    return proofs


@dlt.resource(primary_key="id", write_disposition="merge")
def _changes(stream: Kind[Any]) -> Iterator[Any]:
    # dlt stores the state together with the rows, so neither is ahead.
    state = dlt.current.resource_state()
    if "cursor" not in state:
        yield dlt.mark.materialize_table_schema()
    try:
        for page in stream.sync(cursor=state.get("cursor")):
            yield [
                {"id": one.id, "updatedAt": one.removed_at, "removedAt": one.removed_at}
                if isinstance(one, Removal)
                else {field: value for field, value in one.row.items() if field != "object"}
                for one in page.changes
            ]
            state["cursor"] = page.cursor
            if page.checkpoint:
                state["checkpoint"] = page.checkpoint[stream.kind]
    except CursorTooOldError as error:
        raise DeskwireError(
            error.code,
            "The service was restored from a backup. Load everything again: "
            'pipeline.run(deskwire(), refresh="drop_resources")',
        ) from error


def _readable(client: Client) -> set[str]:
    [page] = client.changes.sync(updated_after="9999-01-01T00:00:00.000Z")
    return set(page.checkpoint or ())


def _columns(kind: str) -> Any:
    """Every field has a column, also while no row has a value, and lists stay in one."""
    for row in get_args(models.AnyRow):
        fields = get_type_hints(row)
        if get_args(fields.pop("object")) == (kind,):
            return {
                **{field: {"data_type": _type_of(field, one)} for field, one in fields.items()},
                # Of two changes of a row in one load the later one counts.
                "updatedAt": {"data_type": "timestamp", "dedup_sort": "desc"},
                # dlt deletes the rows where this has a value: removals.
                "removedAt": {"data_type": "timestamp", "hard_delete": True},
            }
    raise AssertionError(kind)


def _type_of(field: str, hint: Any) -> str:
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else [hint]
    [one, *others] = [part for part in parts if part is not NoneType]
    if get_origin(one) is Literal or (one is str and others):
        return "text"
    if one is str and field.endswith("At"):
        return "timestamp"
    return "json" if others else _TYPES.get(one, "json")


def _served(moment: Any) -> str:
    """A time as the service writes it."""
    at = moment if isinstance(moment, datetime) else datetime.fromisoformat(str(moment))
    utc = at.astimezone(timezone.utc) if at.tzinfo else at
    return utc.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
