package service

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

const frameType = "application/octet-stream"

// serveGallery answers what is served.
func (s *Service) serveGallery(w *answer, r *http.Request) *problem {
	return s.serveVersion(w, r, "application/json", []part{codebookPart, epochPart}, func(v *version) (message, *problem) { return v.about, nil })
}

// serveCodebook answers a codebook.
func (s *Service) serveCodebook(w *answer, r *http.Request) *problem {
	return s.serveMessage(w, r, frameType, codebookPart, func(v *version) (message, *problem) { return v.cells.codebook, nil })
}

// serveBase answers the sample that all clients may have.
func (s *Service) serveBase(w *answer, r *http.Request) *problem {
	encoding, p := encodingOf(r)
	if p != nil {
		return p
	}
	return s.serveMessage(w, r, frameType, codebookPart, func(v *version) (message, *problem) {
		return v.cells.bases[slices.Index(encodings, encoding)], nil
	})
}

// serveRows answers the whole gallery.
func (s *Service) serveRows(w *answer, r *http.Request) *problem {
	return s.serveMessage(w, r, frameType, codebookPart, func(v *version) (message, *problem) {
		if v.cells.shard != nil {
			return message{}, ofShard()
		}
		return v.cells.rows(), nil
	})
}

// serveMap answers the map of the model.
func (s *Service) serveMap(w *answer, r *http.Request) *problem {
	return s.serveVersion(w, r, "application/json", []part{codebookPart, epochPart}, func(v *version) (message, *problem) {
		if v.gallery.Map == nil {
			return message{}, notOffered("this gallery has no map: its rows are as they are")
		}
		return v.chart, nil
	})
}

// serveLabels answers the labels of the rows.
func (s *Service) serveLabels(w *answer, r *http.Request) *problem {
	return s.serveVersion(w, r, "application/json", []part{codebookPart, epochPart}, func(v *version) (message, *problem) {
		if v.labels.bytes == nil {
			return message{}, notOffered("this gallery has no labels that are published")
		}
		return v.labels, nil
	})
}

// serveMessage answers a message about a part of the version that the request names, or of
// the newest.
func (s *Service) serveMessage(w *answer, r *http.Request, kind string, about part, of func(*version) (message, *problem)) *problem {
	return s.serveVersion(w, r, kind, []part{about}, func(v *version) (message, *problem) {
		if p := v.offers(about); p != nil {
			return message{}, p
		}
		return of(v)
	})
}

// serveVersion answers a message of the version that the request names by one of some parts,
// or of the newest: whole, in ranges, or not at all when the client has it.
func (s *Service) serveVersion(w *answer, r *http.Request, kind string, by []part, of func(*version) (message, *problem)) *problem {
	named, p := keyOf(r, by...)
	if p != nil {
		return p
	}
	v, p := s.take(named)
	if p != nil {
		return p
	}
	defer s.give(v)
	m, p := of(v)
	if p != nil {
		return p
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("ETag", `"`+m.hash+`"`)
	// A cache may keep it but asks whether it is still served. What changes on its way has
	// another length than the one that clients expect.
	h.Set("Cache-Control", "no-cache, no-transform")
	if strings.Contains(r.Header.Get("Range"), ",") {
		// Package http would write several ranges from a goroutine that may outlive the
		// request, and with it the file of the gallery. Whoever asks for ranges takes the
		// whole as well.
		r.Header.Del("Range")
	}
	r.Header.Del("If-Match") // for who changes things, which nobody can here
	held := &heldWriter{ResponseWriter: w}
	if m.content == nil {
		http.ServeContent(held, r, "", time.Time{}, &memoryReader{bytes.NewReader(m.bytes), m.bytes})
	} else {
		from := &contentReader{ctx: r.Context(), content: m.content}
		http.ServeContent(held, r, "", time.Time{}, from)
		if from.err != nil && held.sent {
			panic(http.ErrAbortHandler) // the client has part of the message, and can ask for the rest
		}
		if from.err != nil {
			h.Del("Content-Range")
			return s.sourceProblem(r, v, from.err)
		}
	}
	if held.status == http.StatusRequestedRangeNotSatisfiable {
		return badRange()
	}
	held.send()
	return nil
}

// A heldWriter keeps back the head of an answer until there is something of its body, so that a
// problem can take the place of a range that cannot be served, and of a message that cannot be
// read.
type heldWriter struct {
	http.ResponseWriter
	status int  // 0 before there was a head
	sent   bool // the head
}

// WriteHeader implements http.ResponseWriter.
func (w *heldWriter) WriteHeader(status int) { w.status = status }

// send sends the head.
func (w *heldWriter) send() {
	if !w.sent && w.status != 0 {
		w.ResponseWriter.WriteHeader(w.status)
	}
	w.sent = true
}

// Write implements http.ResponseWriter.
func (w *heldWriter) Write(b []byte) (int, error) {
	if w.status == http.StatusRequestedRangeNotSatisfiable {
		return len(b), nil
	}
	w.send()
	return w.ResponseWriter.Write(b)
}

// A blockReader hands over its bytes where they are.
type blockReader interface {
	// next returns at least one and at most the given number of bytes, and io.EOF at the end.
	next(most int64) ([]byte, error)
}

// ReadFrom implements io.ReaderFrom: http.ServeContent would copy a message in small pieces, each
// with a call of the system, which takes half as long again.
func (w *heldWriter) ReadFrom(src io.Reader) (n int64, err error) {
	from, _ := src.(*io.LimitedReader)
	if from == nil {
		return io.Copy(struct{ io.Writer }{w}, src)
	}
	blocks, ok := from.R.(blockReader)
	if !ok {
		return io.Copy(struct{ io.Writer }{w}, src)
	}
	for from.N > 0 {
		b, err := blocks.next(from.N)
		if err == io.EOF {
			break
		}
		if err != nil {
			return n, err
		}
		written, err := w.Write(b)
		n, from.N = n+int64(written), from.N-int64(written)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// A memoryReader reads a message that is in memory.
type memoryReader struct {
	*bytes.Reader
	all []byte
}

// next implements blockReader.
func (r *memoryReader) next(most int64) ([]byte, error) {
	left := r.all[len(r.all)-r.Len():]
	if len(left) == 0 {
		return nil, io.EOF
	}
	left = left[:min(int64(len(left)), most)]
	_, err := r.Seek(int64(len(left)), io.SeekCurrent)
	return left, err
}

// encodingOf returns the encoding that a request asks for.
func encodingOf(r *http.Request) (wire.Encoding, *problem) {
	name := r.URL.Query().Get("encoding")
	if name == "" {
		return wire.Float32, nil
	}
	encoding, err := wire.ParseEncoding(name)
	if err != nil || !slices.Contains(encodings, encoding) {
		return 0, badParameter("encoding is float32 or int8")
	}
	return encoding, nil
}
