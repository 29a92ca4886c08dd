"""What openapi-python-client makes, calling the service: list, create, batch, and a sync to the end."""

import os
from datetime import datetime, timezone

from api import AuthenticatedClient
from api.api.changes import list_changes
from api.api.customers import batch_customers, create_customer, delete_customer, list_customers
from api.models import (
    Customer,
    CustomerBatch,
    CustomerBatchOperation,
    CustomerCreate,
    CustomerCreateCustomAttributes,
    CustomerUpsert,
    Removed,
)

client = AuthenticatedClient(os.environ["DESKWIRE_URL"], os.environ["DESKWIRE_API_KEY"])
beginning = datetime(1970, 1, 1, tzinfo=timezone.utc)


def sync(copied: dict, **start):
    """Takes what changed into the copy, page by page; returns the pagination of the last page."""
    while True:
        # The client sends offset=0 along, the default that the document declares.
        page = list_customers.sync(client=client, **start)
        for record in page.data:
            if isinstance(record, Removed):
                copied.pop(record.id, None)
            else:
                copied[record.id] = record
        if not page.pagination.has_more:
            return page.pagination
        start = {"cursor": page.pagination.next_cursor}


attributes = CustomerCreateCustomAttributes.from_dict({"seats": 3, "plan": "pro", "vip": True})
body = CustomerCreate(name="Ada", tags=["python"], custom_attributes=attributes)
ada = create_customer.sync(client=client, body=body)
assert isinstance(ada, Customer) and ada.custom_attributes["seats"] == 3, ada

items = [CustomerUpsert(external_id=f"python-{n}", tags=["python"]) for n in range(120)]
asked = CustomerBatch(operation=CustomerBatchOperation.UPSERT, items=items)
batch = batch_customers.sync(client=client, body=asked)
assert batch.created == 120 and batch.data[119].outcome == "created", batch

listed = list_customers.sync(client=client, tag="python")
assert listed.pagination.total == 121, listed.pagination

copied: dict = {}
end = sync(copied, updated_after=beginning)
assert end.checkpoint.count == len(copied), end
assert delete_customer.sync_detailed(ada.id, client=client).status_code == 204
end = sync(copied, cursor=end.next_cursor)
assert end.checkpoint.count == len(copied) and ada.id not in copied, end

customers = 0
start: dict = {"updated_after": beginning}
while True:
    page = list_changes.sync(client=client, **start)
    customers += sum(isinstance(record, Customer) for record in page.data)
    if not page.pagination.has_more:
        break
    start = {"cursor": page.pagination.next_cursor}
assert customers == len(copied), customers
print(f"{len(copied)} customers in the copy")
