package service

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// A problem is the answer to a request that was refused (RFC 9457). Its texts are ours and
// hold nothing of the request.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Codebook and Version are those of the gallery that is served now, when a request
	// went with another one.
	Codebook string `json:"codebook,omitempty"`
	Version  uint64 `json:"version,omitempty"`
	// Epoch is that of the sealed gallery, or of the records, that is served now.
	Epoch string `json:"epoch,omitempty"`

	kind  string // Type without what all types begin with
	after int    // seconds, for Retry-After; 0 for none
}

// newProblem returns a problem of a kind.
func newProblem(status int, kind, title, detail string) *problem {
	return &problem{Type: "urn:privatemail:" + kind, Title: title, Status: status, Detail: detail, kind: kind}
}

// again returns p with the time after which the client may try again.
func (p *problem) again(seconds int) *problem {
	p.after = max(1, seconds)
	return p
}

func badFrame(detail string) *problem {
	return newProblem(http.StatusBadRequest, "bad-frame", "The body is not the message that belongs here", detail)
}

func badParameter(detail string) *problem {
	return newProblem(http.StatusBadRequest, "bad-parameter", "A parameter cannot be used", detail)
}

func unauthorized() *problem {
	return newProblem(http.StatusUnauthorized, "unauthorized", "A token is needed", "send one of the tokens of this service as Authorization: Bearer TOKEN or X-API-Key: TOKEN")
}

func notOffered(detail string) *problem {
	return newProblem(http.StatusNotFound, "not-offered", "This service does not offer that", detail)
}

func notFound() *problem {
	return newProblem(http.StatusNotFound, "not-found", "There is nothing at this path", "")
}

func wrongMethod() *problem {
	return newProblem(http.StatusMethodNotAllowed, "method", "This path has another method", "see the header Allow")
}

func gone() *problem {
	return newProblem(http.StatusGone, "no-changes", "These changes are not kept", "take the hint again")
}

func tooLarge(detail string) *problem {
	return newProblem(http.StatusRequestEntityTooLarge, "too-large", "The body is too long", detail)
}

func tooSlow() *problem {
	return newProblem(http.StatusRequestTimeout, "slow", "The body did not come in time", "")
}

func badRange() *problem {
	return newProblem(http.StatusRequestedRangeNotSatisfiable, "range", "The message has no such range", "see the header Content-Range")
}

func unanswerable(detail string) *problem {
	return newProblem(http.StatusUnprocessableEntity, "unanswerable", "The question has no answer here", detail)
}

func wrongCells() *problem {
	return unanswerable("a request names as many cells as the codebook says, and cells that it has")
}

func shardMissing(e *ShardError) *problem {
	return newProblem(http.StatusServiceUnavailable, "shard", "A shard of the gallery cannot be used", fmt.Sprintf("shard %d of %d: %s", e.Index, e.Count, e.Reason)).again(2)
}

func tooOften(seconds int) *problem {
	return newProblem(http.StatusTooManyRequests, "rate", "Too many requests of this client", "").again(seconds)
}

func busy() *problem {
	return newProblem(http.StatusServiceUnavailable, "busy", "Too many requests at a time", "").again(1)
}

func notReady() *problem {
	return newProblem(http.StatusServiceUnavailable, "not-ready", "There is no gallery yet", "").again(2)
}

func failed() *problem {
	return newProblem(http.StatusInternalServerError, "internal", "The service made a mistake", "")
}

// write sends the problem as the whole answer. Headers of the answer that it takes the
// place of must be gone.
func (p *problem) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if p.after > 0 {
		h.Set("Retry-After", strconv.Itoa(p.after))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="privatemail"`)
	}
	body, err := json.Marshal(p)
	if err != nil { // strings and numbers have a JSON form
		body = []byte("{}")
	}
	body = append(body, '\n')
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status)
	w.Write(body)
}
