package server

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

const (
	// groupWords is how many columns of words are laid out together: with the places of a
	// block they fit in a cache near the core.
	groupWords = 64
	// leastPiece and mostPiece bound the rows that a worker multiplies at a time. In long pieces a
	// processor reads ahead: with 256 rows a query by itself takes a fifth less time than with 64.
	leastPiece, mostPiece = 4 * panelRows, 16 * panelRows
	// roundBytes is how much of its words a product lays out at a time, at least one block.
	roundBytes = 1 << 20
	// expandedRows is how many rows of a public matrix a worker expands at a time.
	expandedRows = 32
)

// A loader has the columns of words of a product. It sets them block by block, each block in
// pieces that workers share.
type loader struct {
	// pieces returns how many pieces a block of count entries a column has.
	pieces func(count int) int
	// load sets a piece of words, columns of depth places each: entries from to from+count of the
	// columns. The places beyond count meet zeros of the matrix.
	load func(worker, piece int, words []uint32, from, count, depth int)
}

// blocksAtOnce returns how many blocks a round of a product takes.
func (m *matrix) blocksAtOnce(columns, width int) int {
	return min(split.Blocks(m.columns, blockColumns), max(1, roundBytes/(columns*width*blockColumns)))
}

// pieceRows returns how many rows a worker multiplies at a time: fewer where a worker would have
// less than four pieces.
func (m *matrix) pieceRows(workers int) int {
	rows := m.padded / (4 * workers) / panelRows * panelRows
	return max(leastPiece, min(mostPiece, rows))
}

// product multiplies the matrix with columns of words, modulo 2^32. Sum r of column c is at
// c*m.padded + r. Of a word the upper width bytes count, and the others are 0. The context is
// looked at between pieces. progress is called after each round unless it is nil.
//
// A round takes as many blocks as have room for their words in a cache. Workers wait for each
// other three times a round, so that a query by itself, which takes one round, is not held up.
func (m *matrix) product(ctx context.Context, workers *par.Workers, columns, width int, l loader, progress func(done, total int)) ([]uint32, error) {
	sums := make([]uint32, columns*m.padded)
	size, atOnce, groups := columns*m.depth(0), m.blocksAtOnce(columns, width), split.Blocks(columns, groupWords)
	words, packed := make([]uint32, atOnce*size), make([]simd.Words, atOnce*groups)
	loads, rows := l.pieces(min(blockColumns, m.columns)), m.pieceRows(workers.Count())
	pieces := split.Blocks(m.padded, rows)
	for first := 0; first < len(m.blocks); first += atOnce {
		count := min(atOnce, len(m.blocks)-first)
		if err := workers.Do(ctx, count*loads, par.Func(func(worker, piece int) {
			block := first + piece/loads
			from := block * blockColumns
			if entries := min(blockColumns, m.columns-from); piece%loads < l.pieces(entries) {
				l.load(worker, piece%loads, words[piece/loads*size:][:columns*m.depth(block)], from, entries, m.depth(block))
			}
		})); err != nil {
			return nil, err
		}
		if err := workers.Do(ctx, count*groups, par.Func(func(_, piece int) {
			depth := m.depth(first + piece/groups)
			lo, hi := split.Block(piece%groups, columns, groupWords)
			m.kernels.PackWords(&packed[piece], words[piece/groups*size:][lo*depth:hi*depth], depth, width)
		})); err != nil {
			return nil, err
		}
		// Pieces of one group come one after the other, so that its words stay near.
		if err := workers.Do(ctx, groups*pieces, par.Func(func(_, piece int) {
			group := piece / pieces
			lo, hi := split.Block(piece%pieces, m.padded, rows)
			for i, panel := range m.blocks[first : first+count] {
				depth := m.depth(first + i)
				m.kernels.MulWords(sums[group*groupWords*m.padded+lo:], m.padded, panel[lo*depth:hi*depth], hi-lo, &packed[i*groups+group])
			}
		})); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(first+count, len(m.blocks))
		}
	}
	return sums, nil
}

// productBytes is the most memory that a product takes.
func (m *matrix) productBytes(columns, width int) int64 {
	return 4 * int64(columns) * (int64(m.padded) + 3*int64(m.blocksAtOnce(columns, width))*int64(m.depth(0)))
}

// hintBytes is the most memory that hint takes, its result included.
func (m *matrix) hintBytes() int64 {
	return m.productBytes(scheme.SecretWords, 4) + 4*scheme.SecretWords*int64(m.padded)
}

// hint multiplies the matrix with the public matrix of an epoch: rows x scheme.SecretWords.
func (m *matrix) hint(ctx context.Context, workers *par.Workers, public *scheme.Matrix, progress func(done, total int)) ([]uint32, error) {
	scratches := make([][]uint32, workers.Count())
	sums, err := m.product(ctx, workers, scheme.SecretWords, 4, loader{
		pieces: func(count int) int { return split.Blocks(count, expandedRows) },
		load: func(worker, piece int, words []uint32, from, count, depth int) {
			if scratches[worker] == nil {
				scratches[worker] = make([]uint32, expandedRows*scheme.SecretWords)
			}
			lo, hi := split.Block(piece, count, expandedRows)
			rows := scratches[worker][:(hi-lo)*scheme.SecretWords]
			public.Rows(rows, from+lo)
			transpose(words[lo:], depth, rows, scheme.SecretWords)
		},
	}, progress)
	if err != nil {
		return nil, err
	}
	out := make([]uint32, m.rows*scheme.SecretWords)
	err = workers.Do(ctx, split.Blocks(scheme.SecretWords, expandedRows), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, scheme.SecretWords, expandedRows)
		for r := range m.rows {
			to := out[r*scheme.SecretWords : (r+1)*scheme.SecretWords]
			for j := lo; j < hi; j++ {
				to[j] = sums[j*m.padded+r]
			}
		}
	}))
	return out, err
}

// transpose sets column i of dst, whose rows are stride apart, to row i of src, whose rows
// have width words.
func transpose(dst []uint32, stride int, src []uint32, width int) {
	for j := range width {
		to := dst[j*stride:]
		for i := range len(src) / width {
			to[i] = src[i*width+j]
		}
	}
}

// answers multiplies the matrix with the ciphertexts of requests, all in one pass, and sets
// the words of the answers. The caller has checked the requests: all have the columns of the
// matrix and one width.
func (m *matrix) answers(ctx context.Context, workers *par.Workers, requests []*wire.SealedRequest) ([]*wire.SealedAnswer, error) {
	var ciphertexts [][]byte
	for _, r := range requests {
		size := r.Columns * r.Width
		for c := range r.Count {
			ciphertexts = append(ciphertexts, r.Bytes[c*size:(c+1)*size])
		}
	}
	if len(ciphertexts) == 0 {
		return nil, nil
	}
	width := requests[0].Width
	if err := checkMemory("an answer", m.answerBytes(len(ciphertexts), width)); err != nil {
		return nil, err
	}
	sums, err := m.product(ctx, workers, len(ciphertexts), width, loader{
		pieces: func(int) int { return len(ciphertexts) },
		load: func(_, c int, words []uint32, from, count, depth int) {
			unpackWords(words[c*depth:c*depth+count], ciphertexts[c][from*width:(from+count)*width], width)
		},
	}, nil)
	if err != nil {
		return nil, err
	}
	out := make([]*wire.SealedAnswer, len(requests))
	for i, r := range requests {
		words := make([]uint32, 0, r.Count*m.rows)
		for range r.Count {
			words = append(words, sums[:m.rows]...)
			sums = sums[m.padded:]
		}
		out[i] = &wire.SealedAnswer{Epoch: r.Epoch, Count: r.Count, Rows: m.rows, Words: words}
	}
	return out, nil
}

// answerBytes is the most memory that the answers to that many ciphertexts take.
func (m *matrix) answerBytes(ciphertexts, width int) int64 {
	return m.productBytes(ciphertexts, width) + 4*int64(ciphertexts)*int64(m.rows)
}

// unpackWords sets words to those whose upper width bytes follow each other, low byte first:
// three bytes or four.
func unpackWords(words []uint32, b []byte, width int) {
	if width == 4 {
		for i := range words {
			words[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
		return
	}
	for len(words) >= 4 { // byte by byte takes three times as long
		low, high := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[4:])
		w := (*[4]uint32)(words)
		w[0], w[1], w[2], w[3] = uint32(low)<<8, uint32(low>>16)&^0xff, uint32(high>>8)&^0xff, uint32(high>>32)&^0xff
		words, b = words[4:], b[12:]
	}
	for i := range words {
		words[i] = uint32(b[3*i])<<8 | uint32(b[3*i+1])<<16 | uint32(b[3*i+2])<<24
	}
}

// checkRequest refuses a request that does not fit: one of another epoch, width or number of
// columns, or with fewer or more ciphertexts than least to most.
func (m *matrix) checkRequest(r *wire.SealedRequest, epoch wire.Hash, width, least, most int) error {
	if r == nil {
		return fmt.Errorf("%w: there is none", ErrQuestion)
	}
	if r.Epoch != epoch {
		return ErrEpoch
	}
	if err := r.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrQuestion, err)
	}
	switch {
	case r.Width != width:
		return fmt.Errorf("%w: words of %d bytes, want %d", ErrQuestion, r.Width, width)
	case r.Columns != m.columns:
		return fmt.Errorf("%w: ciphertexts of %d columns, want %d", ErrQuestion, r.Columns, m.columns)
	case r.Count < least || r.Count > most:
		return fmt.Errorf("%w: %d ciphertexts, want %d to %d", ErrQuestion, r.Count, least, most)
	}
	return nil
}
