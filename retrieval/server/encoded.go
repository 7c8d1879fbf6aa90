package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// defaultEncoded is the memory for encoded answers, in bytes.
const defaultEncoded = 640 << 20

// encode makes the frames of all cells in both forms if requests name one cell and there is
// room for all frames. With some of them only, the time of an answer would tell everyone who
// can measure it which cells are among them.
func (c *Cells) encode(ctx context.Context, s CellsSettings) error {
	each := c.book.AnswerBytes(wire.Float32) + c.book.AnswerBytes(wire.Int8)
	if s.Encoded < 0 || c.book.Size > 1 || each > min(s.Encoded, math.MaxInt)/int64(s.Cells) {
		return nil
	}
	var encoded [2][]byte
	errs := make([]error, s.Cells)
	answers := make([]wire.CellsAnswer, s.Workers.Count())
	for form := range encoded {
		length := int(c.book.AnswerBytes(wire.Form(form)))
		encoded[form] = make([]byte, s.Cells*length)
		err := s.Workers.Do(ctx, s.Cells, par.Func(func(worker, cell int) {
			answer, at := &answers[worker], cell*length
			if errs[cell] = c.fill(answer, []uint32{uint32(cell)}, wire.Form(form)); errs[cell] == nil {
				_, errs[cell] = answer.AppendBinary(encoded[form][at : at : at+length])
			}
		}))
		if err := errors.Join(append(errs, err)...); err != nil {
			return err
		}
	}
	c.encoded = encoded
	return nil
}

// Encoded returns the memory of the encoded answers of both forms, in bytes; 0 where
// WriteAnswer encodes each answer anew.
func (c *Cells) Encoded() int64 {
	return int64(len(c.encoded[wire.Float32])) + int64(len(c.encoded[wire.Int8]))
}

// WriteAnswer writes the binary form of the answer to a request, with rows of a form, as
// wire.CellsAnswer.UnmarshalBinary reads it: wire.Codebook.AnswerBytes bytes. Where
// answers were encoded beforehand (CellsSettings.Encoded) nothing is computed, and the
// time does not depend on the cells, but for what the processor happens to have in its
// caches and, of a gallery that was opened, the system has of the file. Otherwise rows are
// gathered and encoded, and full lists take a little longer than short ones.
//
// Errors are those of Answer, before anything is written, and those of the writer. After
// the latter the reader has part of a message, which it refuses.
func (c *Cells) WriteAnswer(w io.Writer, request *wire.CellsRequest, form wire.Form) (int64, error) {
	if err := c.checkRequest(request, form); err != nil {
		return 0, err
	}
	if err := c.begin(); err != nil {
		return 0, err
	}
	defer c.calls.End()
	if all := c.encoded[form]; all != nil {
		length := len(all) / len(c.lists)
		return writeFrame(w, all[int(request.Cells[0])*length:][:length])
	}
	answer, ok := c.spare.Get().(*wire.CellsAnswer)
	if !ok {
		answer = new(wire.CellsAnswer)
	}
	defer c.spare.Put(answer)
	c.fillLists(answer, request.Cells, form)
	var n int64
	var err error
	if form == wire.Int8 {
		n, err = answer.WriteGatheredCompact(w, c.view)
	} else {
		n, err = answer.WriteGathered(w, c.row)
	}
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
