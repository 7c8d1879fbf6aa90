package server

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// defaultEncoded is the memory for encoded answers, in bytes.
const defaultEncoded = 512 << 20

// encode makes the frames of all cells if requests name one cell and there is room for
// all frames. With some of them only, the time of an answer would tell everyone who can
// measure it which cells are among them.
func (c *Cells) encode(ctx context.Context, s CellsSettings) error {
	if s.Encoded < 0 || c.book.Size > 1 || c.book.AnswerBytes() > s.Encoded/int64(s.Cells) {
		return nil
	}
	frames, errs := make([][]byte, s.Cells), make([]error, s.Cells)
	answers := make([]wire.CellsAnswer, s.Workers.Count())
	err := s.Workers.Do(ctx, s.Cells, par.Func(func(worker, cell int) {
		c.fill(&answers[worker], []uint32{uint32(cell)})
		frames[cell], errs[cell] = answers[worker].MarshalBinary()
	}))
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	c.frames = frames
	return nil
}

// Encoded returns the memory of the encoded answers, in bytes; 0 where WriteAnswer
// encodes each answer anew.
func (c *Cells) Encoded() int64 { return int64(len(c.frames)) * c.book.AnswerBytes() }

// WriteAnswer writes the binary form of the answer to a request, as
// wire.CellsAnswer.UnmarshalBinary reads it: wire.Codebook.AnswerBytes bytes. Where
// answers were encoded beforehand (CellsSettings.Encoded) nothing is computed, and the
// time does not depend on the cells, but for what the processor happens to have in its
// caches. Otherwise rows are gathered and encoded, and full lists take a little longer
// than short ones.
//
// Errors are those of Answer, before anything is written, and those of the writer. After
// the latter the reader has part of a message, which it refuses.
func (c *Cells) WriteAnswer(w io.Writer, request *wire.CellsRequest) (int64, error) {
	if err := c.checkRequest(request); err != nil {
		return 0, err
	}
	if c.frames != nil {
		return writeFrame(w, c.frames[request.Cells[0]])
	}
	answer, ok := c.spare.Get().(*wire.CellsAnswer)
	if !ok {
		answer = new(wire.CellsAnswer)
	}
	defer c.spare.Put(answer)
	c.fillLists(answer, request.Cells)
	n, err := answer.WriteGathered(w, c.row)
	if err != nil {
		err = fmt.Errorf("server: %w", err)
	}
	return n, err
}

// writeFrame writes an encoded answer.
func writeFrame(w io.Writer, frame []byte) (int64, error) {
	n, err := w.Write(frame)
	switch {
	case n < 0 || n > len(frame):
		n, err = 0, fmt.Errorf("a writer that says it took %d of %d bytes", n, len(frame))
	case err == nil && n < len(frame):
		err = io.ErrShortWrite
	}
	if err != nil {
		err = fmt.Errorf("server: %w", err)
	}
	return int64(n), err
}
