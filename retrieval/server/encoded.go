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

// encode makes the frames of all cells in both encodings if requests name one cell and there is
// room for all frames. With some of them only, the time of an answer would tell everyone who
// can measure it which cells are among them.
func (c *Cells) encode(ctx context.Context, most int64, workers *par.Workers) error {
	each := c.AnswerBytes(wire.Float32) + c.AnswerBytes(wire.Int8)
	cells := len(c.lists)
	if most < 0 || c.book.Size > 1 || each > min(most, math.MaxInt)/int64(cells) {
		return nil
	}
	var encoded [2][]byte
	errs := make([]error, cells)
	answers := make([]wire.CellsAnswer, workers.Count())
	for encoding := range encoded {
		length := int(c.AnswerBytes(wire.Encoding(encoding)))
		encoded[encoding] = make([]byte, cells*length)
		err := workers.Do(ctx, cells, par.Func(func(worker, cell int) {
			answer, at := &answers[worker], cell*length
			if errs[cell] = c.fill(answer, []uint32{uint32(cell)}, wire.Encoding(encoding)); errs[cell] == nil {
				_, errs[cell] = answer.AppendBinary(encoded[encoding][at : at : at+length])
			}
		}))
		if err := errors.Join(append(errs, err)...); err != nil {
			return err
		}
	}
	c.encoded = encoded
	return nil
}

// Encoded returns the memory of the encoded answers of both encodings, in bytes; 0 where
// WriteAnswer encodes each answer again.
func (c *Cells) Encoded() int64 {
	return int64(len(c.encoded[wire.Float32])) + int64(len(c.encoded[wire.Int8]))
}

// AnswerBytes returns the length of the binary form of an answer, which is the same for every
// request: wire.Codebook.AnswerBytes, less in a shard. It is 0 for an unknown encoding.
func (c *Cells) AnswerBytes(encoding wire.Encoding) int64 {
	return c.shard.AnswerBytes(&c.book, encoding)
}

// WriteAnswer writes the binary form of the answer to a request, with rows of an encoding, as
// wire.CellsAnswer.UnmarshalBinary reads it: AnswerBytes bytes. Where
// answers were encoded beforehand (CellsSettings.Encoded) nothing is computed, and the
// time does not depend on the cells, but for what the processor happens to have in its
// caches and, of a gallery that was opened, the system has of the file. Otherwise rows are
// gathered and encoded, and full lists take a little longer than short ones.
//
// Errors are those of Answer, before anything is written, and those of the writer. After
// the latter the reader has part of a message, which it refuses.
func (c *Cells) WriteAnswer(w io.Writer, request *wire.CellsRequest, encoding wire.Encoding) (int64, error) {
	if err := c.checkRequest(request, encoding); err != nil {
		return 0, err
	}
	if err := c.begin(); err != nil {
		return 0, err
	}
	defer c.calls.End()
	if all := c.encoded[encoding]; all != nil {
		length := len(all) / len(c.lists)
		return writeFrame(w, all[int(request.Cells[0])*length:][:length])
	}
	answer, ok := c.spare.Get().(*wire.CellsAnswer)
	if !ok {
		answer = new(wire.CellsAnswer)
	}
	defer c.spare.Put(answer)
	c.fillLists(answer, request.Cells, encoding)
	var n int64
	var err error
	if encoding == wire.Int8 {
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
