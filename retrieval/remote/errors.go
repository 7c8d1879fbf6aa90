package remote

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Sentinels, matched with errors.Is.
var (
	// ErrSettings reports an address or a setting that cannot be used.
	ErrSettings = errors.New("setting not usable")
	// ErrUnreachable reports that there was no answer, after all tries.
	ErrUnreachable = errors.New("the server does not answer")
	// ErrCertificate reports a server whose certificate is not trusted. Nothing was sent. It is
	// tried once: another try would meet the same certificate.
	ErrCertificate = errors.New("this client does not trust the certificate of the server")
	// ErrResponse reports an answer that this service does not give.
	ErrResponse = errors.New("not an answer of this service")
	// ErrTooLong reports a message that Settings.Memory has no room for.
	ErrTooLong = errors.New("longer than there is room for")
	// ErrRefused reports a request that the server has refused.
	ErrRefused = errors.New("the server refuses")
	// ErrStale reports a codebook that the server does not serve, or not any more. A new
	// codebook is a new spend for each record.
	ErrStale = errors.New("the server has another codebook, under which each record spends its epsilon again")
	// ErrEpoch reports an epoch of mode sealed that the server does not serve, or not any
	// more. Nothing is spent by a new one; a client takes its manifest and encrypts again.
	ErrEpoch = errors.New("the server has another epoch")
	// ErrChanges reports changes that the server does not keep: the hint is to be taken again.
	ErrChanges = errors.New("the server does not keep these changes")
)

// Types of problems, as the service names them.
const (
	typeStale      = "urn:privatemail:stale-codebook"
	typeStaleEpoch = "urn:privatemail:stale-epoch"
	typeNoChanges  = "urn:privatemail:no-changes"
	typeNotOffered = "urn:privatemail:not-offered"
)

// A StaleError says which codebook the server has now. It matches ErrStale.
type StaleError struct {
	Asked   wire.Hash // the codebook that was asked for
	Current wire.Hash // zero where the server does not say
}

func (e *StaleError) Error() string {
	if e.Current == (wire.Hash{}) {
		return fmt.Sprintf("remote: %v (asked for %x)", ErrStale, e.Asked)
	}
	return fmt.Sprintf("remote: %v (asked for %x, it has %x)", ErrStale, e.Asked, e.Current)
}

// Unwrap returns ErrStale.
func (e *StaleError) Unwrap() error { return ErrStale }

// An EpochError says which epoch the server has now. It matches ErrEpoch.
type EpochError struct {
	Asked   wire.Hash // the epoch that was asked for
	Current wire.Hash // zero where the server does not say
}

func (e *EpochError) Error() string {
	if e.Current == (wire.Hash{}) {
		return fmt.Sprintf("remote: %v (asked for %x)", ErrEpoch, e.Asked)
	}
	return fmt.Sprintf("remote: %v (asked for %x, it has %x)", ErrEpoch, e.Asked, e.Current)
}

// Unwrap returns ErrEpoch.
func (e *EpochError) Unwrap() error { return ErrEpoch }

// A RefusedError is the refusal of a server in its own words, which are cut to a line. It
// matches ErrRefused.
type RefusedError struct {
	Status        int
	Type          string // such as "urn:privatemail:rate"; "" where the server does not say
	Title, Detail string
}

func (e *RefusedError) Error() string {
	text := fmt.Sprintf("remote: %v: status %d", ErrRefused, e.Status)
	for _, part := range []string{e.Title, e.Detail} {
		if part != "" {
			text += ": " + part
		}
	}
	return text
}

// Unwrap returns ErrRefused.
func (e *RefusedError) Unwrap() error { return ErrRefused }

// problem is a body of type application/problem+json.
type problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Detail   string `json:"detail"`
	Codebook string `json:"codebook"`
	Epoch    string `json:"epoch"`
}

// mostProblem bytes of a refusal are read.
const mostProblem = 1 << 14

// refusal turns the body of a refusal into an error. Whatever is in it, there is one.
func refusal(status int, contentType string, body []byte, asked wire.Hash) error {
	e := &RefusedError{Status: status}
	var p problem
	if !strings.HasPrefix(contentType, "application/problem+json") || json.Unmarshal(body, &p) != nil {
		if status >= 400 && status < 500 {
			e.Title = "without a reason; it may be a proxy or another service"
		}
		return e
	}
	switch p.Type {
	case typeStale:
		return &StaleError{Asked: asked, Current: hashIn(p.Codebook)}
	case typeStaleEpoch:
		return &EpochError{Asked: asked, Current: hashIn(p.Epoch)}
	}
	e.Type, e.Title, e.Detail = oneLine(p.Type), oneLine(p.Title), oneLine(p.Detail)
	return e
}

// hashIn reads a hash, zero where there is none.
func hashIn(text string) (hash wire.Hash) {
	if sum, err := hex.DecodeString(text); err == nil && len(sum) == len(hash) {
		hash = wire.Hash(sum)
	}
	return hash
}

// oneLine returns the first letters of a text from elsewhere, without those that would
// move a cursor or begin a line.
func oneLine(text string) string {
	const most = 200
	var b strings.Builder
	for _, r := range text {
		if b.Len() >= most {
			b.WriteString("...")
			break
		}
		if !unicode.IsPrint(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}
