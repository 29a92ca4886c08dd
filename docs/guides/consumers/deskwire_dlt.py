"""Deskwire in DuckDB, or wherever dlt loads to: a table a kind, and what was deleted there is deleted here.

    pip install "dlt[duckdb]"
    DESKWIRE_URL=http://127.0.0.1:8080/v1 DESKWIRE_API_KEY=dwk_… python deskwire_dlt.py

Run it as often as you like. It goes on where it was, and proves at the end that every table is exact.
"""

import hashlib
import os

import dlt
from dlt.sources.helpers import requests

TABLES = {
    "customer": "customers",
    "conversation": "conversations",
    "message": "messages",
    "note": "notes",
    "ticket": "tickets",
    "booking": "bookings",
    "teammate": "teammates",
}


@dlt.resource(
    primary_key="id",
    write_disposition="merge",
    table_name=lambda change: TABLES[change["kind"]],
    # Lists and objects stay in a column of JSON; without this each list becomes a table of its own.
    max_table_nesting=0,
    columns={
        # A removal record has this alone beside its id: where it is not null, dlt deletes the row.
        "removed_at": {"data_type": "timestamp", "hard_delete": True},
        # Of two changes of a row in one load the later one counts.
        "updated_at": {"data_type": "text", "dedup_sort": "desc"},
    },
)
def changes(url: str, key: str):
    """Every change since the last load. dlt stores the cursor together with the rows, so neither is ahead."""
    state = dlt.current.resource_state()
    while True:
        start = {"cursor": state["cursor"]} if "cursor" in state else {"updatedAfter": "1970-01-01T00:00:00Z"}
        headers = {"Authorization": f"Bearer {key}"}
        page = requests.get(f"{url}/changes", params={**start, "limit": 100}, headers=headers).json()
        for row in page["data"]:
            if row["object"] == "removed":
                yield {"kind": row["resource"], "id": row["id"], "updated_at": row["removedAt"], "removed_at": row["removedAt"]}
            else:
                yield {"kind": row["object"], **row}
        state["cursor"] = page["pagination"]["nextCursor"]
        if not page["pagination"]["hasMore"]:
            state["checkpoint"] = page["pagination"]["checkpoint"]
            return


def prove(pipeline: dlt.Pipeline) -> None:
    """Holds every table against the checkpoint of its kind: how many rows, and a sum over id and updatedAt of each."""
    checkpoint = pipeline.state["sources"]["deskwire"]["resources"]["changes"]["checkpoint"]
    for kind, expected in checkpoint.items():
        rows = []
        if TABLES[kind] in pipeline.default_schema.tables:
            with pipeline.sql_client() as client:
                rows = client.execute_sql(f"select id, updated_at from {TABLES[kind]}")
        digest = sum(int.from_bytes(hashlib.sha256(f"{id}:{at}".encode()).digest()[:8]) for id, at in rows) % 2**64
        exact = {"count": len(rows), "digest": f"{digest:016x}"} == {k: expected[k] for k in ("count", "digest")}
        print(f"{TABLES[kind]}: {len(rows)} rows, {'exact' if exact else 'NOT EXACT: drop the data set and begin again'}")


if __name__ == "__main__":
    pipeline = dlt.pipeline("deskwire", destination="duckdb", dataset_name="desk")
    pipeline.run(dlt.source(lambda: changes(os.environ["DESKWIRE_URL"], os.environ["DESKWIRE_API_KEY"]), name="deskwire")())
    prove(pipeline)
