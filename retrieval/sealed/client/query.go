package client

import (
	"fmt"
	"sync"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Query is one row under encryption, with the secrets that its answer is decrypted with. They
// are in memory only, and no form of printing or encoding shows them. It is safe for concurrent
// use.
type Query struct {
	request *wire.SealedRequest
	secret  *secret // behind a pointer, which is all that a printed copy shows
}

// A secret is what a client knows about its query.
type secret struct {
	mu        sync.RWMutex
	forgotten bool
	sealed    *ciphertexts
	row       *queryRow
}

// Request returns the message for the server: the same bytes at each call. Who sends a query
// again sends these, and never encrypts again with the same secrets. Nobody may change it.
func (q *Query) Request() *wire.SealedRequest { return q.request }

// Forget overwrites the secrets of the query, which cannot be ranked any more. That is best
// effort: the runtime may have copied them, and keys of AES stay until their memory is used again.
func (q *Query) Forget() {
	if q == nil || q.secret == nil {
		return // not one of Ask
	}
	q.secret.mu.Lock()
	defer q.secret.mu.Unlock()
	q.secret.forgotten = true
	q.secret.sealed.forget()
	q.secret.row.forget()
}

// Format writes "sealed query", whatever the verb.
func (q Query) Format(f fmt.State, _ rune) { fmt.Fprint(f, "sealed query") }
