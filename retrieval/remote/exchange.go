package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// An order is what one call asks a server for. Its bytes are the same at each try.
type order struct {
	what  string // in messages and for Progress
	path  string
	query url.Values
	body  []byte    // of a POST; nil for a GET
	asked wire.Hash // the codebook or epoch it is about
	frame bool      // a message of package wire is due, otherwise JSON
	exact int64     // length of what is due, 0 where it is not known
	most  int64     // limit of that length
	long  bool      // a later process goes on with a download that was cut off
	room  int64     // limit of the memory
	// check refuses a body. It is called with all of it.
	check func(body []byte) error
}

// A tryAgain is an error that another try may not meet.
type tryAgain struct {
	error
	after time.Duration // that the server asks to wait
}

// again returns an error that another try may not meet.
func again(o *order, format string, args ...any) error {
	return &tryAgain{error: fmt.Errorf("remote: the "+o.what+": "+format, args...)}
}

// wrong returns an ErrResponse, which another try would meet again.
func wrong(o *order, format string, args ...any) error {
	return fmt.Errorf("remote: the %s: %w: %s", o.what, ErrResponse, fmt.Sprintf(format, args...))
}

// tooLong returns an ErrTooLong.
func tooLong(o *order) error {
	return fmt.Errorf("remote: the %s: %w: it has more than %d bytes", o.what, ErrTooLong, o.room)
}

// try sends an order once and adds what comes back to got. Where got holds the beginning
// already, the server is asked for the rest.
func (s *Server) try(ctx context.Context, o *order, got *received) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(s.settings.Stall, func() { cancel(errStalled) })
	defer watch.Stop()
	request, err := s.request(ctx, o, got)
	if err != nil {
		return err
	}
	if o.body != nil {
		// A long body may take longer than Stall, as long as the server takes some of it.
		upload(request, o.body, func() { watch.Reset(s.settings.Stall) })
	}
	response, err := s.http.Do(request)
	if err != nil {
		return failed(ctx, o, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusPartialContent {
		return s.refused(ctx, o, got, response)
	}
	total, err := announced(o, got, response)
	if err != nil {
		return err
	}
	progress := func(done int64) {
		if s.settings.Progress != nil && total > 0 {
			s.settings.Progress(o.what, done, total)
		}
	}
	if err := got.read(ctx, o, response.Body, total, func() { watch.Reset(s.settings.Stall) }, progress); err != nil {
		return err
	}
	return got.verify(o)
}

// request makes what is sent.
func (s *Server) request(ctx context.Context, o *order, got *received) (*http.Request, error) {
	address := *s.address
	address.Path += o.path
	address.RawQuery = o.query.Encode()
	method := http.MethodGet
	if o.body != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, method, address.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("remote: %w: %w", ErrSettings, err)
	}
	request.Header.Set("User-Agent", "privatemail")
	request.Header.Set("Accept-Encoding", "identity")
	if o.body != nil {
		request.Header.Set("Content-Type", "application/octet-stream")
	}
	if s.settings.Token != "" {
		request.Header.Set("Authorization", "Bearer "+s.settings.Token)
	}
	if o.body == nil && got.resumable() {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", len(got.data)))
		request.Header.Set("If-Range", `"`+got.tag+`"`)
	}
	return request, nil
}

// failed is for a request without an answer.
func failed(ctx context.Context, o *order, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errStalled) {
		return cause
	} else if cause != nil {
		err = cause
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // without the address, which the caller knows
	}
	if why := distrust(err); why != nil {
		return fmt.Errorf("remote: the %s: %w", o.what, why)
	}
	return again(o, "%w: %w", ErrUnreachable, err)
}

// refused is for an answer of another status than that of success.
func (s *Server) refused(ctx context.Context, o *order, got *received, response *http.Response) error {
	status := response.StatusCode
	switch {
	case status >= 300 && status < 400:
		return wrong(o, "status %d sends us elsewhere, and redirects are not followed: name the address that serves", status)
	case status == http.StatusRequestedRangeNotSatisfiable && got.resumable():
		got.reset()
		return again(o, "%w: what an earlier try has left does not fit", ErrResponse)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, mostProblem))
	if err != nil && ctx.Err() != nil {
		return failed(ctx, o, err)
	}
	err = refusal(status, response.Header.Get("Content-Type"), body, o.asked)
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &tryAgain{error: err, after: retryAfter(response.Header.Get("Retry-After"), time.Now())}
	}
	return err
}

// announced looks at the head of an answer and returns the length of the whole body, or -1
// where it is not announced. got keeps what it has where the answer goes on from there.
func announced(o *order, got *received, response *http.Response) (total int64, err error) {
	if err := unencoded(o, response); err != nil {
		return 0, err
	}
	if kind := response.Header.Get("Content-Type"); !o.frame && !strings.HasPrefix(kind, "application/json") {
		return 0, wrong(o, "its body is not JSON; is there a proxy on the way, or another service?")
	}
	have := int64(len(got.data))
	switch {
	case response.StatusCode == http.StatusPartialContent && have == 0:
		return 0, wrong(o, "a part of it came, and all was asked for")
	case response.StatusCode == http.StatusPartialContent:
		var first, last int64
		if n, err := fmt.Sscanf(response.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total); n != 3 || err != nil ||
			first != have || last != total-1 || response.ContentLength >= 0 && response.ContentLength != total-have {
			got.reset()
			return 0, again(o, "%w: another part of it came than the one asked for", ErrResponse)
		}
	default:
		got.begin(tagOf(response.Header.Get("ETag")))
		total = response.ContentLength
	}
	switch {
	case total > o.room:
		return 0, tooLong(o)
	case total > o.most:
		return 0, wrong(o, "it announces %d bytes, and at most %d are expected", total, o.most)
	case total >= 0 && o.exact > 0 && total != o.exact:
		return 0, wrong(o, "it announces %d bytes, and %d are due", total, o.exact)
	}
	return total, nil
}

// unencoded refuses a body that is not as it was sent.
func unencoded(o *order, response *http.Response) error {
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return wrong(o, "its body is encoded, and lists must not be compressed; is there a proxy on the way?")
	}
	return nil
}

// tagOf returns the hash in an ETag of ours, "" for any other.
func tagOf(header string) string {
	tag, ok := strings.CutPrefix(header, `"`)
	if !ok || len(tag) != 2*sha256.Size+1 || tag[2*sha256.Size] != '"' {
		return ""
	}
	tag = tag[:2*sha256.Size]
	if sum, err := hex.DecodeString(tag); err != nil || hex.EncodeToString(sum) != tag {
		return ""
	}
	return tag
}
