// Verification by Standard Webhooks in Go 1.22 or later, with its own library. The endpoint needs "standard" in its
// signatures. What else a receiver does is in receiver.go.
//
//	go mod init receiver && go get github.com/standard-webhooks/standard-webhooks/libraries
//	DESKWIRE_WEBHOOK_SECRET=whsec_… go run standard.go    several secrets: separated by commas
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Whether any of the secrets has signed it: while a rotation lasts, a receiver may know two.
func verified(webhooks []*standardwebhooks.Webhook, body []byte, headers http.Header) bool {
	for _, webhook := range webhooks {
		if webhook.Verify(body, headers) == nil {
			return true
		}
	}
	return false
}

func main() {
	var webhooks []*standardwebhooks.Webhook
	for _, secret := range strings.Split(os.Getenv("DESKWIRE_WEBHOOK_SECRET"), ",") {
		if secret == "" {
			continue
		}
		webhook, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			log.Fatal(err)
		}
		webhooks = append(webhooks, webhook)
	}
	if len(webhooks) == 0 {
		log.Fatal("Set DESKWIRE_WEBHOOK_SECRET to the secret of the endpoint.")
	}

	http.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		// The bytes as they came, before any parsing.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		var event struct{ ID, Type string }
		if !verified(webhooks, body, r.Header) || json.Unmarshal(body, &event) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Println(event.Type, event.ID)
		w.WriteHeader(http.StatusNoContent)
	})

	port := os.Getenv("PORT")
	if port == "" {
		port = "8083"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}
