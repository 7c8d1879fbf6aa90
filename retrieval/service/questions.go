package service

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// serveCells answers a request of mode cells. Nothing that depends on the request is
// computed beside the answer, or kept.
func (s *Service) serveCells(w *answer, r *http.Request) *problem { return s.answerCells(w, r, false) }

// answerCells answers a request for cells: that of a client, or of a front end to a shard.
func (s *Service) answerCells(w *answer, r *http.Request, toFrontEnd bool) *problem {
	form, p := formOf(r)
	if p != nil {
		return p
	}
	limit, p := s.longest(codebookPart)
	if p != nil {
		return p
	}
	var request wire.CellsRequest
	if p := readFrame(w, r, limit, &request); p != nil {
		return p
	}
	v, p := s.take(&key{codebookPart, request.Codebook})
	if p != nil {
		return p
	}
	defer s.give(v)
	switch ofOne := v.cells.shard != nil; {
	case ofOne && !toFrontEnd:
		return ofShard()
	case toFrontEnd && !ofOne:
		return noShard()
	case v.gallery.Source != nil:
		return s.answerFrom(w, r, v, &request, form)
	}
	announce(w.Header(), v.gallery.Cells.AnswerBytes(form))
	written, err := v.gallery.Cells.WriteAnswer(w, &request, form)
	switch {
	case err == nil:
		return nil
	case written == 0 && w.status == 0:
		return wrongCells()
	}
	panic(http.ErrAbortHandler) // the client has part of an answer, or is gone
}

// serveAligned answers a question of Algorithm 1.
func (s *Service) serveAligned(w *answer, r *http.Request) *problem {
	v, p := s.take(nil)
	if p != nil {
		return p
	}
	defer s.give(v)
	if v.gallery.Aligned == nil {
		return notOffered("this service does not answer questions of Algorithm 1")
	}
	if !enter(s.aligned) {
		return busy()
	}
	defer leave(s.aligned)
	var question wire.Question
	if p := readFrame(w, r, s.settings.MaxQuestion, &question); p != nil {
		return p
	}
	matches, err := v.gallery.Aligned.Answer(r.Context(), &question)
	if err != nil {
		if r.Context().Err() != nil {
			panic(http.ErrAbortHandler) // the client is gone
		}
		return unanswerable("the question goes with another public set or other numbers of the method, or the public rows determine no alignment")
	}
	return writeAnswer(w, matches)
}

// announce sets the headers of an answer that belongs to one client.
func announce(h http.Header, length int64) {
	h.Set("Content-Type", frameType)
	h.Set("Content-Length", strconv.FormatInt(length, 10))
	h.Set("Cache-Control", "no-store, no-transform")
}

// readFrame reads the body of a request, of at most limit bytes, into a message. What it
// says about a body that is none holds nothing of the body.
func readFrame(w *answer, r *http.Request, limit int64, to interface{ UnmarshalBinary([]byte) error }) *problem {
	long := func() *problem {
		discard(w, r)
		return tooLarge(fmt.Sprintf("at most %d bytes", limit))
	}
	if r.ContentLength > limit {
		return long()
	}
	// ReadAll takes memory as bytes come, whatever length was announced.
	// MaxBytesReader tells the writer of package http not to read on.
	body, err := io.ReadAll(http.MaxBytesReader(w.ResponseWriter, r.Body, limit))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return long()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return tooSlow()
	}
	if err != nil {
		return badFrame("the body ended early")
	}
	if err := to.UnmarshalBinary(body); err != nil {
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

// What is read of a body that is refused.
const (
	discardBytes = 256 << 10
	discardTime  = 500 * time.Millisecond
)

// discard reads a little of a body that is refused, for a short time: a client that still
// writes when its connection ends may not see the answer. One that waits to be told to go
// on has not begun to write.
func discard(w *answer, r *http.Request) {
	if r.Header.Get("Expect") == "" {
		_ = w.control.SetReadDeadline(time.Now().Add(discardTime))
		_, _ = io.CopyN(io.Discard, r.Body, discardBytes)
	}
	_ = w.control.SetReadDeadline(time.Now()) // nobody waits for the rest
}
