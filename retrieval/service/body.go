package service

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

const (
	// bodyGrace is the time that every body has besides what its length needs.
	bodyGrace = 5 * time.Second
	// bodyBlock is how much of a body is read under one deadline.
	bodyBlock = 64 << 10
)

// bodyTime returns when the first bytes of a body must have come, from when it began to be read:
// at the rate of Slowest, and at Read in any case.
func (s *Settings) bodyTime(bytes int64) time.Duration {
	return min(s.Read, bodyGrace+time.Duration(float64(bytes)/float64(s.Slowest)*float64(time.Second)))
}

// bodyLength returns how long the body of a request is. One whose length was not announced counts
// as the longest.
func bodyLength(r *http.Request, limit int64) (int64, *problem) {
	switch {
	case r.ContentLength > limit:
		return 0, tooLarge(fmt.Sprintf("at most %d bytes", limit))
	case r.ContentLength < 0:
		return limit, nil
	}
	return r.ContentLength, nil
}

// readFrame reads the body of a request, of at most limit bytes, and has it decoded. What it says
// about a body that cannot be decoded holds nothing of the body.
func (s *Service) readFrame(w *answer, r *http.Request, limit int64, decode func([]byte) error) *problem {
	length, p := bodyLength(r, limit)
	if p != nil {
		return p
	}
	body, err := s.readBody(w, r, length, limit)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(fmt.Sprintf("at most %d bytes", limit))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return tooSlow()
	}
	if err != nil {
		return badFrame("the body ended early")
	}
	if err := decode(body); err != nil {
		detail := "it is no frame of that kind"
		if e, ok := errors.AsType[*wire.Error](err); ok && e.Field != "" {
			detail = "field " + e.Field
		}
		switch {
		case errors.Is(err, wire.ErrVersion):
			detail = "its format has another version: both sides need the same release"
		case errors.Is(err, wire.ErrChecksum):
			detail = "its checksum does not match"
		}
		return badFrame(detail)
	}
	return nil
}

// readBody reads a body to its end, into memory of the length that it has. Its deadline moves with
// what comes.
func (s *Service) readBody(w *answer, r *http.Request, length, limit int64) ([]byte, error) {
	// MaxBytesReader tells the writer of package http not to read on.
	from := http.MaxBytesReader(w.ResponseWriter, r.Body, limit)
	begin := time.Now()
	body := make([]byte, length+1) // the end comes with a Read of nothing
	for at, due := int64(0), int64(0); at <= length; {
		if at >= due {
			due = at + bodyBlock
			_ = w.control.SetReadDeadline(begin.Add(s.settings.bodyTime(min(due, length))))
		}
		n, err := from.Read(body[at:])
		at += int64(n)
		if err == io.EOF {
			return body[:at], nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, &http.MaxBytesError{Limit: length} // package http reads no more than was announced
}

// What is read of a body that is refused.
const (
	discardBytes = 256 << 10
	discardTime  = 500 * time.Millisecond
)

// discard reads a little of a body that is refused, for a short time: a client that still
// writes when its connection ends may not see the answer. One that waits to be told to go
// on has not begun to write. Of a longer body nothing more is read: package http sends the answer,
// ends our side of the connection, and closes it half a second later.
func discard(w *answer, r *http.Request) {
	if r.ContentLength == 0 {
		return
	}
	if r.Header.Get("Expect") == "" {
		_ = w.control.SetReadDeadline(time.Now().Add(discardTime))
		if _, err := io.CopyN(io.Discard, r.Body, discardBytes); err == io.EOF {
			_ = w.control.SetReadDeadline(time.Time{})
			return // the connection can be used again
		}
	}
	_ = w.control.SetReadDeadline(time.Now()) // nobody waits for the rest
}
