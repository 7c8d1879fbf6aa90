package client

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"io"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// ciphertexts are those of one request. Each has a secret and errors of its own, used for it
// and for nothing else: two ciphertexts under one secret disclose the difference of what they
// encrypt.
type ciphertexts struct {
	columns int      // words of a ciphertext
	width   int      // upper bytes of a word that are sent, 3 or 4
	secrets []uint32 // scheme.SecretWords a ciphertext
	streams []cipher.Block
	plain   plaintext
	bytes   []byte // of the request
}

// A plaintext is what is encrypted.
type plaintext interface {
	// add adds the plaintext of a ciphertext to words, from a column on.
	add(words []uint32, ciphertext, first int)
}

// newCiphertexts draws the secrets of that many ciphertexts, each from a seed of its own.
func newCiphertexts(seeds io.Reader, count, columns, width int, plain plaintext) (*ciphertexts, error) {
	c := &ciphertexts{columns: columns, width: width, plain: plain, bytes: make([]byte, count*columns*width)}
	c.secrets, c.streams = make([]uint32, count*scheme.SecretWords), make([]cipher.Block, count)
	for i := range c.streams {
		var seed [32]byte
		if _, err := io.ReadFull(seeds, seed[:]); err != nil {
			return nil, fmt.Errorf("client: no randomness for secrets: %w", err)
		}
		stream, err := aes.NewCipher(seed[:])
		if err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
		clear(seed[:])
		c.streams[i] = stream
		scheme.FillWords(c.secrets[i*scheme.SecretWords:(i+1)*scheme.SecretWords], stream, 0)
	}
	return c, nil
}

// encryptedColumns is how many columns are encrypted at a time: the rows of the matrix for them
// are in the cache while all secrets are multiplied with them.
const encryptedColumns = 64

// encrypt fills in the bytes of requests. All have the same number of columns, so that each row
// of the matrix is computed once for all of them.
func encrypt(ctx context.Context, workers *par.Workers, matrix *scheme.Matrix, requests []*ciphertexts) error {
	if len(requests) == 0 {
		return nil
	}
	kernels := simd.At(simd.Best())
	columns, most := requests[0].columns, 0
	for _, c := range requests {
		most = max(most, len(c.streams))
	}
	buffers := make([]encryption, workers.Count())
	err := workers.Do(ctx, split.Blocks(columns, encryptedColumns), par.Func(func(worker, block int) {
		first, end := split.Block(block, columns, encryptedColumns)
		e := &buffers[worker]
		if e.rows == nil {
			e.rows, e.products = make([]uint32, encryptedColumns*scheme.SecretWords), make([]uint32, encryptedColumns*most)
		}
		rows := e.rows[:(end-first)*scheme.SecretWords]
		matrix.Rows(rows, first)
		for _, c := range requests {
			kernels.WordDots(e.products, rows, c.secrets, scheme.SecretWords)
			for i := range c.streams {
				words := e.words[:end-first]
				for w := range words {
					words[w] = e.products[w*len(c.streams)+i]
				}
				addErrors(words, c.streams[i], first)
				c.plain.add(words, i, first)
				c.write(words, i, first)
			}
		}
	}))
	for i := range buffers {
		clear(buffers[i].products)
		clear(buffers[i].words[:])
	}
	for _, c := range requests {
		clear(c.streams)
	}
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	return nil
}

// encryption is the memory of a worker.
type encryption struct {
	rows     []uint32 // of the matrix
	products []uint32 // of these with the secrets of a request
	words    [encryptedColumns]uint32
}

// write rounds words and stores what is sent of them.
func (c *ciphertexts) write(words []uint32, ciphertext, first int) {
	out := c.bytes[(ciphertext*c.columns+first)*c.width:]
	if c.width == 4 {
		for i, w := range words {
			b := out[4*i:][:4]
			b[0], b[1], b[2], b[3] = byte(w), byte(w>>8), byte(w>>16), byte(w>>24)
		}
		return
	}
	for i, w := range words {
		w = rounded(w)
		b := out[3*i:][:3]
		b[0], b[1], b[2] = byte(w), byte(w>>8), byte(w>>16)
	}
}

// rounded returns a word without its lower scheme.DroppedBits, rounded to the nearest and in the
// middle to the even one, so that the mean of what rounding adds is 0. What goes beyond 2^32
// wraps to 0.
func rounded(w uint32) uint32 {
	const half = 1 << scheme.DroppedBits / 2
	return (w + half - 1 + w>>scheme.DroppedBits&1) >> scheme.DroppedBits
}

// request returns the message.
func (c *ciphertexts) request(epoch wire.Hash) *wire.SealedRequest {
	return &wire.SealedRequest{Epoch: epoch, Count: len(c.streams), Columns: c.columns, Width: c.width, Bytes: c.bytes}
}

// decrypt takes the secrets out of an answer: for each row of the hint it returns the words of all
// ciphertexts, which are the products of the matrix of the server with plaintexts and errors.
func (c *ciphertexts) decrypt(workers *par.Workers, hint [][]uint32, answer []uint32) ([]uint32, error) {
	kernels, count := simd.At(simd.Best()), len(c.streams)
	out := make([]uint32, len(answer))
	const size = 16
	err := workers.Do(context.Background(), split.Blocks(len(hint), size), par.Func(func(_, block int) {
		first, end := split.Block(block, len(hint), size)
		for row := first; row < end; row++ {
			to := out[row*count:][:count]
			kernels.WordDots(to, hint[row], c.secrets, scheme.SecretWords)
			for i, product := range to {
				to[i] = answer[i*len(hint)+row] - product
			}
		}
	}))
	return out, err
}

// forget overwrites the secrets.
func (c *ciphertexts) forget() { clear(c.secrets) }
