"""Prints the rows of every table that the dlt example made, a line of JSON each: the table, and the columns with their values."""

import datetime
import json
import sys

import duckdb

with duckdb.connect(sys.argv[1], read_only=True) as db:
    tables = db.execute(
        "select table_name from information_schema.tables where table_schema = 'desk' and table_name not like '\\_dlt%' escape '\\'"
    ).fetchall()
    for (table,) in tables:
        rows = db.execute(f"select * from desk.{table}")
        names = [column[0] for column in rows.description]
        types = {column[0]: str(column[1]) for column in rows.description}
        for row in rows.fetchall():
            values = {}
            for name, value in zip(names, row):
                if name.startswith("_dlt"):
                    continue
                if isinstance(value, datetime.datetime):
                    value = value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
                if types[name] == "JSON" and value is not None:
                    value = json.loads(value)
                values[name] = value
            print(json.dumps({"table": table, "row": values}))
