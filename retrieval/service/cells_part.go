package service

import (
	"fmt"
	"sync"

	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A cellsPart is what a version has of the modes cells and all.
type cellsPart struct {
	book     *wire.Codebook
	shard    *server.Shard // nil where all rows are here
	hash     wire.Hash     // of the codebook
	codebook message
	request  int64     // bytes of a request
	bases    []message // one an encoding
	// rows is made when it is first asked for: the hash of a long message takes a while.
	rows func() message
}

// encodings are those that rows travel in.
var encodings = []wire.Encoding{wire.Float32, wire.Int8}

// newCellsPart makes the messages of cells.
func newCellsPart(cells *server.Cells) (*cellsPart, error) {
	p, err := newCodebookPart(cells.Codebook())
	if err != nil {
		return nil, err
	}
	p.shard = cells.Shard()
	for _, f := range encodings {
		base, err := cells.Base(f).MarshalBinary()
		if err != nil {
			return nil, fmt.Errorf("base: %w", err)
		}
		p.bases = append(p.bases, newMessage(base))
	}
	p.rows = sync.OnceValue(func() message { return newMessage(cells.AllRowsFrame()) })
	return p, nil
}

// newSourcePart is newCellsPart for rows that are elsewhere.
func newSourcePart(source Source) (*cellsPart, error) {
	p, err := newCodebookPart(source.Codebook())
	if err != nil {
		return nil, err
	}
	for _, f := range encodings {
		p.bases = append(p.bases, elsewhere(source.Base(f)))
	}
	rows := elsewhere(source.Rows())
	p.rows = func() message { return rows }
	return p, nil
}

// newCodebookPart makes what follows from the codebook.
func newCodebookPart(book *wire.Codebook) (*cellsPart, error) {
	frame, err := book.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("codebook: %w", err)
	}
	p := &cellsPart{book: book, hash: hashOf(frame), codebook: newMessage(frame)}
	// Any cells will do: requests of one codebook have one length.
	request := wire.CellsRequest{Cells: make([]uint32, book.Size)}
	for i := range request.Cells {
		request.Cells[i] = uint32(i)
	}
	if frame, err = request.MarshalBinary(); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	p.request = int64(len(frame))
	return p, nil
}

// hashOf returns the hash that the frame of a codebook or manifest ends with.
func hashOf(frame []byte) wire.Hash { return wire.Hash(frame[len(frame)-len(wire.Hash{}):]) }
