"""After a restore of the service, the load says what to do, and doing it is a proved copy."""

import dlt
from deskwire.dlt import deskwire, prove
from dlt.pipeline.exceptions import PipelineStepFailed

pipeline = dlt.pipeline("deskwire", destination="duckdb", dataset_name="desk")
try:
    raise AssertionError(pipeline.run(deskwire()))
except PipelineStepFailed as error:
    assert 'pipeline.run(deskwire(), refresh="drop_resources")' in str(error), error
pipeline.run(deskwire(), refresh="drop_resources")
assert all(prove(pipeline).values())
print("a restored service is loaded again after a clear error")
