"""The models that datamodel-code-generator makes (Pydantic), with calls of httpx: list, create, batch, and a sync to the end."""

import os

import httpx
from models import (
    BatchAnswer,
    ChangesPage,
    Customer,
    CustomerBatch,
    CustomerCreate,
    CustomerPage,
    CustomerUpsert,
)

http = httpx.Client(
    base_url=os.environ["DESKWIRE_URL"],
    headers={"Authorization": f"Bearer {os.environ['DESKWIRE_API_KEY']}"},
)
beginning = {"updatedAfter": "1970-01-01T00:00:00Z"}


def get(path: str, **params) -> bytes:
    return http.get(path, params=params).raise_for_status().content


def post(path: str, body) -> bytes:
    sent = body.model_dump_json(exclude_unset=True)
    headers = {"Content-Type": "application/json"}
    return http.post(path, content=sent, headers=headers).raise_for_status().content


def sync(copied: dict, **start):
    """Takes what changed into the copy, page by page; returns the pagination of the last page."""
    while True:
        page = CustomerPage.model_validate_json(get("/v1/customers", offset=0, **start))
        for record in page.data:
            if record.root.object == "removed":
                copied.pop(record.root.id, None)
            else:
                copied[record.root.id] = record.root
        if not page.pagination.hasMore:
            return page.pagination
        start = {"cursor": page.pagination.nextCursor}


body = CustomerCreate(name="Ada", tags=["pydantic"], customAttributes={"seats": 3, "vip": True})
ada = Customer.model_validate_json(post("/v1/customers", body))
assert ada.customAttributes["seats"] == 3, ada

items = [CustomerUpsert(externalId=f"pydantic-{n}", tags=["pydantic"]) for n in range(120)]
asked = CustomerBatch(operation="upsert", items=items)
batch = BatchAnswer.model_validate_json(post("/v1/customers/batch", asked))
assert batch.created == 120 and batch.data[119].outcome == "created", batch

listed = CustomerPage.model_validate_json(get("/v1/customers", tag="pydantic"))
assert listed.pagination.total == 121, listed.pagination

copied: dict = {}
end = sync(copied, **beginning)
assert end.checkpoint.count == len(copied), end
assert http.delete(f"/v1/customers/{ada.id}").status_code == 204
end = sync(copied, cursor=end.nextCursor)
assert end.checkpoint.count == len(copied) and ada.id not in copied, end

customers = 0
start = beginning
while True:
    page = ChangesPage.model_validate_json(get("/v1/changes", **start))
    customers += sum(record.root.object == "customer" for record in page.data)
    if not page.pagination.hasMore:
        break
    start = {"cursor": page.pagination.nextCursor}
assert customers == len(copied), customers
print(f"{len(copied)} customers in the copy")
