"""A row that somebody deletes in the destination, and a load that was interrupted, are no proved copy."""

import dlt
import duckdb
from deskwire import DeskwireError
from deskwire.dlt import deskwire, prove

pipeline = dlt.pipeline("deskwire", destination="duckdb", dataset_name="desk")
with duckdb.connect("deskwire.duckdb") as db:
    db.execute("delete from desk.customers where id = (select min(id) from desk.customers)")
wrong = [name for name, exact in prove(pipeline).items() if not exact]
assert wrong == ["customers"], wrong
pipeline.extract(deskwire(), refresh="drop_resources")
try:
    raise AssertionError(prove(pipeline))
except DeskwireError as error:
    assert error.code == "pending", error
pipeline.run()
assert all(prove(pipeline).values())
print("a deleted row and a pending load are no proof, and loading again restores it")
