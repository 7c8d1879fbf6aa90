package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Source answers in the modes cells and all from rows that are elsewhere, as a front end
// does from its shards. It is safe for concurrent use.
type Source interface {
	// Codebook returns the codebook, which must not be changed.
	Codebook() *wire.Codebook
	// Memory returns about how many bytes an Answer of an encoding takes while it is made.
	Memory(encoding wire.Encoding) int64
	// Answer returns the answer to a request that goes with the codebook and names as many
	// cells as it says, all of which it has. Errors are a *ShardError and that of the context.
	Answer(ctx context.Context, request *wire.CellsRequest, encoding wire.Encoding) (*wire.CellsAnswer, error)
	// Base returns the base sample of an encoding, and Rows the whole gallery.
	Base(encoding wire.Encoding) Content
	Rows() Content
}

// A Content is the binary form of a message that is elsewhere.
type Content struct {
	Hash   wire.Hash // its SHA-256
	Length int64     // its bytes
	// ReadAt fills p with what begins at offset. Errors are a *ShardError and that of the
	// context.
	ReadAt func(ctx context.Context, p []byte, offset int64) error
}

// A ShardError says which shard of a Source could not be used. Its words are ours: what a shard
// says itself may hold something of a request.
type ShardError struct {
	Index, Count int    // from 1 on
	Reason       string // "it does not answer"
	Stale        bool   // the shard has another codebook
}

func (e *ShardError) Error() string {
	return fmt.Sprintf("service: shard %d of %d: %s", e.Index, e.Count, e.Reason)
}

// A ShardState is what a front end knows of a shard.
type ShardState struct {
	Address string
	Ready   bool      // it answers, with the gallery that is served or a later one
	Reason  string    // why it is not ready
	Since   time.Time // of that state
}

// answerFrom answers a request of mode cells from the source of a version.
func (s *Service) answerFrom(w *answer, r *http.Request, v *version, request *wire.CellsRequest, encoding wire.Encoding) *problem {
	source := v.gallery.Source
	book := source.Codebook()
	if n := len(request.Cells); n != book.Size || int64(request.Cells[n-1]) >= int64(book.Cells()) {
		return wrongCells()
	}
	memory := source.Memory(encoding)
	if !s.bodies.enter(r.Context(), w.client, memory) {
		return busy()
	}
	defer s.bodies.leave(w.client, memory)
	out, err := source.Answer(r.Context(), request, encoding)
	if err != nil {
		return s.sourceProblem(r, v, err)
	}
	announce(w.Header(), book.AnswerBytes(encoding))
	if _, err := out.WriteTo(w); err != nil {
		panic(http.ErrAbortHandler) // the client has part of an answer, or is gone
	}
	return nil
}

// sourceProblem returns what a client is told when a source of a version has failed. Whoever
// asks for a replaced version that a shard has given up is told of the newest one.
func (s *Service) sourceProblem(r *http.Request, v *version, err error) *problem {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	failure, ok := errors.AsType[*ShardError](err)
	if !ok {
		s.settings.Log.Error("a source failed in another way than by a shard")
		return failed()
	}
	s.settings.Log.Warn("shard not usable", "shard", failure.Index, "of", failure.Count, "reason", failure.Reason)
	if newest := s.newest(); failure.Stale && newest != nil && newest != v {
		return newest.stale(codebookPart)
	}
	return shardMissing(failure)
}

// newest returns the version that was published last, nil for none. It is for what does not
// change of it: whoever answers from a version takes it.
func (s *Service) newest() *version {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.versions) == 0 {
		return nil
	}
	return s.versions[0]
}

// contentBlock is how much of a Content is fetched at a time at most.
const contentBlock = 1 << 20

// A contentReader reads a Content for http.ServeContent, and keeps the error that it met.
type contentReader struct {
	ctx     context.Context
	content *Content
	at      int64  // of the next Read
	block   []byte // what was fetched and not yet read, from at on
	err     error
}

// Seek implements io.Seeker.
func (c *contentReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.at
	case io.SeekEnd:
		offset += c.content.Length
	}
	if offset < 0 {
		return 0, errors.New("service: a place before the beginning")
	}
	c.at, c.block = offset, nil
	return offset, nil
}

// Read implements io.Reader.
func (c *contentReader) Read(p []byte) (int, error) {
	b, err := c.next(int64(len(p)))
	return copy(p, b), err
}

// next implements blockReader.
func (c *contentReader) next(most int64) ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	if c.at >= c.content.Length {
		return nil, io.EOF
	}
	if len(c.block) == 0 {
		// What a small range does not need is not fetched: shards would send much for little.
		c.block = make([]byte, min(contentBlock, c.content.Length-c.at, most))
		if c.err = c.content.ReadAt(c.ctx, c.block, c.at); c.err != nil {
			return nil, c.err
		}
	}
	b := c.block[:min(int64(len(c.block)), most)]
	c.block, c.at = c.block[len(b):], c.at+int64(len(b))
	return b, nil
}
