// A complete receiver in Go 1.22 or later, with nothing but its standard library.
//
//	DESKWIRE_WEBHOOK_SECRET=whsec_… go run receiver.go    several secrets: separated by commas
//	go run receiver.go check < signature.json             judges the published vectors
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

var numeric = regexp.MustCompile(`^[0-9]{1,15}$`)

func verify(body []byte, header string, secrets []string, now, tolerance int64) bool {
	var times, signatures []string
	for _, entry := range strings.Split(header, ",") {
		if value, found := strings.CutPrefix(entry, "t="); found {
			times = append(times, value)
		} else if value, found := strings.CutPrefix(entry, "v1="); found {
			signatures = append(signatures, value)
		}
	}
	if len(times) != 1 || !numeric.MatchString(times[0]) {
		return false
	}
	sent, err := strconv.ParseInt(times[0], 10, 64)
	if err != nil || now-sent > tolerance || sent-now > tolerance {
		return false
	}
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(times[0] + "."))
		mac.Write(body)
		expected := []byte(hex.EncodeToString(mac.Sum(nil)))
		for _, signature := range signatures {
			// Constant time; false for another length.
			if hmac.Equal([]byte(signature), expected) {
				return true
			}
		}
	}
	return false
}

type event struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// Do the work here. Return an error, and the event comes again in a minute.
func handle(e event) error {
	fmt.Println(e.Type, e.ID)
	return nil
}

// Deskwire waits ten seconds for an answer.
const answerWithin = 8 * time.Second

type work struct {
	done chan struct{}
	err  error
}

// By event: deliveries are repeated, and those of one event have one id, that of X-Service-Event-Id. The body has it too,
// and there it is signed. In production: a table with a unique key, written in the transaction of the work.
var (
	begun     = map[string]*work{}
	beginning sync.Mutex
)

// The work of an event, which is done once: a repetition gets what has begun. What failed is begun anew.
func once(e event) *work {
	beginning.Lock()
	defer beginning.Unlock()
	w := begun[e.ID]
	if w == nil {
		w = &work{done: make(chan struct{})}
		begun[e.ID] = w
		go func() {
			if w.err = handle(e); w.err != nil {
				beginning.Lock()
				delete(begun, e.ID)
				beginning.Unlock()
			}
			close(w.done)
		}()
	}
	return w
}

func serve(secrets []string) {
	http.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		// The bytes as they came, before any parsing.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		var e event
		if !verify(body, r.Header.Get("X-Service-Signature"), secrets, time.Now().Unix(), 300) ||
			json.Unmarshal(body, &e) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		work := once(e)
		select {
		case <-work.done:
			if work.err != nil {
				log.Print(work.err)
				w.WriteHeader(http.StatusInternalServerError) // anything but a 2xx: it is sent again
				return
			}
			w.WriteHeader(http.StatusNoContent)
		case <-time.After(answerWithin):
			w.WriteHeader(http.StatusServiceUnavailable) // it goes on, and the event's next delivery finds it done
		}
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

func check() {
	var vectors []struct {
		Secrets        []string
		Header         string // null, for none, is read as empty
		Body           []byte // base64 in JSON
		Now, Tolerance int64
	}
	if err := json.NewDecoder(os.Stdin).Decode(&vectors); err != nil {
		log.Fatal(err)
	}
	for _, v := range vectors {
		if verify(v.Body, v.Header, v.Secrets, v.Now, v.Tolerance) {
			fmt.Println("accept")
		} else {
			fmt.Println("reject")
		}
	}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "check" {
		check()
		return
	}
	var secrets []string
	for _, secret := range strings.Split(os.Getenv("DESKWIRE_WEBHOOK_SECRET"), ",") {
		if secret != "" {
			secrets = append(secrets, secret)
		}
	}
	if len(secrets) == 0 {
		log.Fatal("Set DESKWIRE_WEBHOOK_SECRET to the secret of the endpoint.")
	}
	serve(secrets)
}
