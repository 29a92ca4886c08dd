// Says of each vector on standard input whether the library of Standard Webhooks accepts it.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type vector struct {
	Secrets []string
	Headers map[string]string
	Body    []byte // base64 in JSON
}

func accepts(v vector) bool {
	headers := http.Header{}
	for name, value := range v.Headers {
		headers.Set(name, value)
	}
	for _, secret := range v.Secrets {
		webhook, err := standardwebhooks.NewWebhook(secret)
		if err == nil && webhook.Verify(v.Body, headers) == nil {
			return true
		}
	}
	return false
}

func main() {
	var vectors []vector
	if err := json.NewDecoder(os.Stdin).Decode(&vectors); err != nil {
		log.Fatal(err)
	}
	for _, v := range vectors {
		if accepts(v) {
			fmt.Println("accept")
		} else {
			fmt.Println("reject")
		}
	}
}
