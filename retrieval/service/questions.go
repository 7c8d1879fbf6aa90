package service

import (
	"net/http"
	"strconv"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// serveCells answers a request of mode cells. Nothing but the answer is computed from a request, and
// nothing of it is kept.
func (s *Service) serveCells(w *answer, r *http.Request) *problem { return s.answerCells(w, r, false) }

// answerCells answers a request for cells: that of a client, or of a front end to a shard.
func (s *Service) answerCells(w *answer, r *http.Request, toFrontEnd bool) *problem {
	encoding, p := encodingOf(r)
	if p != nil {
		return p
	}
	limit, p := s.longest(codebookPart)
	if p != nil {
		return p
	}
	var request wire.CellsRequest
	if p := s.readFrame(w, r, limit, request.UnmarshalBinary); p != nil {
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
		return s.answerFrom(w, r, v, &request, encoding)
	}
	announce(w.Header(), v.gallery.Cells.AnswerBytes(encoding))
	written, err := v.gallery.Cells.WriteAnswer(w, &request, encoding)
	switch {
	case err == nil:
		return nil
	case written == 0 && w.status == 0:
		return wrongCells()
	}
	panic(http.ErrAbortHandler) // the client has part of an answer, or is gone
}

// announce sets the headers of an answer that belongs to one client.
func announce(h http.Header, length int64) {
	h.Set("Content-Type", frameType)
	h.Set("Content-Length", strconv.FormatInt(length, 10))
	h.Set("Cache-Control", "no-store, no-transform")
}
