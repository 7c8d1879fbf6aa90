package client

import (
	"fmt"
	"sync"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Fetching is a choice of records under encryption, with the secrets that the answer is
// decrypted with. They are in memory only, and no form of printing or encoding shows them. It
// is safe for concurrent use.
type Fetching struct {
	request *wire.SealedRequest
	secret  *fetchSecret // behind a pointer, which is all that a printed copy shows
}

// A fetchSecret is what a client knows about its fetch.
type fetchSecret struct {
	mu        sync.RWMutex
	forgotten bool
	sealed    *ciphertexts
	choices   *choices
}

// Request returns the message for the server: the same bytes at each call. Who sends a fetch again
// sends these, and never encrypts again with the same secrets. Nobody may change it.
func (f *Fetching) Request() *wire.SealedRequest { return f.request }

// Forget overwrites the secrets of the fetch, whose answer cannot be opened any more. That is
// best effort: the runtime may have copied them.
func (f *Fetching) Forget() {
	if f == nil || f.secret == nil {
		return // not one of Fetch
	}
	f.secret.mu.Lock()
	defer f.secret.mu.Unlock()
	f.secret.forgotten = true
	f.secret.sealed.forget()
	f.secret.choices.forget()
}

// Format writes "sealed fetch", whatever the verb.
func (f Fetching) Format(to fmt.State, _ rune) { fmt.Fprint(to, "sealed fetch") }
