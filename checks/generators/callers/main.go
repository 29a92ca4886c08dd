// What oapi-codegen makes, calling the service: list, create, batch, and a sync to the end.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"deskwire.example/generated/api"
)

type row = api.CustomerPage_Data_Item

var ctx = context.Background()

func main() {
	client, err := api.NewClientWithResponses(os.Getenv("DESKWIRE_URL"), api.WithRequestEditorFn(withKey))
	check(err == nil, "a client: %v", err)

	seats := api.CustomerCreate_CustomAttributes_AdditionalProperties{}
	check(seats.FromCustomerCreateCustomAttributes1(3) == nil, "a number as a custom attribute")
	name, tags := "Ada", []string{"go"}
	attributes := map[string]*api.CustomerCreate_CustomAttributes_AdditionalProperties{"seats": &seats}
	made, err := client.CreateCustomerWithResponse(ctx, nil, api.CustomerCreate{
		Name: &name, Tags: &tags, CustomAttributes: &attributes,
	})
	check(err == nil && made.JSON201 != nil, "create: %v %v", err, made)
	ada, err := made.JSON201.AsCustomer()
	check(err == nil && *ada.Name == "Ada", "the created customer: %v", err)
	shown, err := ada.CustomAttributes["seats"].AsCustomerCustomAttributes1()
	check(err == nil && shown == 3, "its custom attribute: %v", shown)

	upsert := api.CustomerBatchOperationUpsert
	items := make([]api.CustomerBatch_Items_Item, 120)
	for n := range items {
		externalId := fmt.Sprintf("go-%d", n)
		check(items[n].FromCustomerUpsert(api.CustomerUpsert{ExternalId: &externalId, Tags: &tags}) == nil, "an item")
	}
	batch, err := client.BatchCustomersWithResponse(ctx, nil, api.CustomerBatch{Operation: &upsert, Items: items})
	check(err == nil && batch.JSON200 != nil, "batch: %v %v", err, batch)
	check(batch.JSON200.Created == 120 && batch.JSON200.Data[119].Outcome == "created", "what the batch came to")

	tag := "go"
	list, err := client.ListCustomersWithResponse(ctx, &api.ListCustomersParams{Tag: &tag})
	check(err == nil && list.JSON200 != nil, "list: %v %v", err, list)
	check(list.JSON200.Pagination.Total == 121, "the total of a list")

	beginning, offset := time.Unix(0, 0).UTC(), 0
	copied := map[string]row{}
	end := sync(client, copied, &api.ListCustomersParams{UpdatedAfter: &beginning, Offset: &offset})
	check(end.Checkpoint.Count == len(copied), "the checkpoint counts the copy")
	removed, err := client.DeleteCustomerWithResponse(ctx, ada.Id, nil)
	check(err == nil && removed.StatusCode() == http.StatusNoContent, "delete: %v", err)
	end = sync(client, copied, &api.ListCustomersParams{Cursor: end.NextCursor, Offset: &offset})
	check(end.Checkpoint.Count == len(copied), "the checkpoint counts what is left")
	_, there := copied[ada.Id.String()]
	check(!there, "what was deleted is gone")

	kinds := map[string]int{}
	all := &api.ListChangesParams{UpdatedAfter: &beginning}
	for more := true; more; {
		page, err := client.ListChangesWithResponse(ctx, all)
		check(err == nil && page.JSON200 != nil, "changes: %v %v", err, page)
		for _, record := range page.JSON200.Data {
			kind, err := record.Discriminator()
			check(err == nil, "which kind: %v", err)
			_, err = record.ValueByDiscriminator()
			check(err == nil, "a record of any kind: %v", err)
			kinds[kind]++
		}
		cursor := page.JSON200.Pagination.NextCursor
		all, more = &api.ListChangesParams{Cursor: &cursor}, page.JSON200.Pagination.HasMore
	}
	check(kinds["customer"] == len(copied), "the stream of all kinds has them too")
	fmt.Printf("%d customers in the copy\n", len(copied))
}

func sync(client *api.ClientWithResponses, copied map[string]row, params *api.ListCustomersParams) api.Pagination {
	for {
		page, err := client.ListCustomersWithResponse(ctx, params)
		check(err == nil && page.JSON200 != nil, "sync: %v %v", err, page)
		for _, record := range page.JSON200.Data {
			value, err := record.ValueByDiscriminator()
			check(err == nil, "a record: %v", err)
			switch one := value.(type) {
			case api.Removed:
				delete(copied, one.Id.String())
			case api.Customer:
				copied[one.Id.String()] = record
			}
		}
		if !page.JSON200.Pagination.HasMore {
			return page.JSON200.Pagination
		}
		params = &api.ListCustomersParams{Cursor: page.JSON200.Pagination.NextCursor, Offset: params.Offset}
	}
}

func withKey(_ context.Context, request *http.Request) error {
	request.Header.Set("Authorization", "Bearer "+os.Getenv("DESKWIRE_API_KEY"))
	return nil
}

func check(holds bool, what string, values ...any) {
	if !holds {
		fmt.Fprintf(os.Stderr, what+"\n", values...)
		os.Exit(1)
	}
}
