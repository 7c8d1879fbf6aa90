package server

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// drawnMatrix returns a matrix of random bytes, and the bytes row by row.
func drawnMatrix(random *rand.Rand, rows, columns int) (*matrix, []int8) {
	m, plain := newMatrix(rows, columns), make([]int8, rows*columns)
	for i := range plain {
		plain[i] = int8(random.Uint32())
		if random.IntN(8) == 0 {
			plain[i] = -128 // sums wrap the earlier
		}
	}
	for r := range rows {
		m.setRow(r, 0, plain[r*columns:(r+1)*columns])
	}
	return m, plain
}

// drawnRequest returns a request of random bytes.
func drawnRequest(random *rand.Rand, epoch wire.Hash, count, columns, width int) *wire.SealedRequest {
	r := &wire.SealedRequest{Epoch: epoch, Count: count, Columns: columns, Width: width, Bytes: make([]byte, count*columns*width)}
	for i := range r.Bytes {
		r.Bytes[i] = byte(random.Uint32())
		if random.IntN(4) == 0 {
			r.Bytes[i] = 255
		}
	}
	return r
}

// bigProduct multiplies a matrix with a ciphertext in whole numbers of any size.
func bigProduct(plain []int8, rows, columns int, ciphertext []byte, width int) []uint32 {
	out := make([]uint32, rows)
	modulus := new(big.Int).Lsh(big.NewInt(1), 32)
	for r := range rows {
		sum, product := new(big.Int), new(big.Int)
		for c := range columns {
			word := new(big.Int)
			for b := width - 1; b >= 0; b-- {
				word.Lsh(word, 8).Add(word, big.NewInt(int64(ciphertext[c*width+b])))
			}
			word.Lsh(word, uint(32-8*width))
			sum.Add(sum, product.Mul(word, big.NewInt(int64(plain[r*columns+c]))))
		}
		out[r] = uint32(sum.Mod(sum, modulus).Uint64())
	}
	return out
}

// Answers are those of whole numbers of any size, modulo 2^32, at every level, for any number of
// workers, and however many requests share a pass.
func TestAnswersAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, shape := range []struct{ rows, columns, width int }{
		{1, 1, 3}, {16, 64, 4}, {17, 65, 3}, {5, blockColumns, 3}, {70, blockColumns + 1, 4}, {3, 2*blockColumns + 63, 3}, {130, 7, 3},
	} {
		m, plain := drawnMatrix(random, shape.rows, shape.columns)
		var requests []*wire.SealedRequest
		var want []uint32
		for _, count := range []int{1, 3, 2} {
			r := drawnRequest(random, wire.Hash{7}, count, shape.columns, shape.width)
			requests = append(requests, r)
			size := shape.columns * shape.width
			for c := range count {
				want = append(want, bigProduct(plain, shape.rows, shape.columns, r.Bytes[c*size:(c+1)*size], shape.width)...)
			}
		}
		for _, kernels := range simd.All() {
			m.kernels = kernels
			for _, count := range []int{1, 2, 5} {
				workers := par.New(count)
				answers, err := m.answers(t.Context(), workers, requests)
				workers.Close()
				if err != nil {
					t.Fatal(err)
				}
				var got []uint32
				for i, a := range answers {
					if err := a.Check(); err != nil || a.Count != requests[i].Count || a.Rows != shape.rows || a.Epoch != requests[i].Epoch {
						t.Fatalf("answer %d: %v", i, err)
					}
					got = append(got, a.Words...)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%v, %+v, %d workers: other words", kernels, shape, count)
				}
			}
		}
	}
}

// More ciphertexts than are laid out together give what each gives alone.
func TestAnswersOfManyRequests(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	m, _ := drawnMatrix(random, 20, 130)
	var requests []*wire.SealedRequest
	for range groupWords/2 + 3 {
		requests = append(requests, drawnRequest(random, wire.Hash{}, 3, 130, 3))
	}
	together, err := m.answers(t.Context(), nil, requests)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range requests {
		alone, err := m.answers(t.Context(), nil, []*wire.SealedRequest{r})
		if err != nil || !slices.Equal(alone[0].Words, together[i].Words) {
			t.Fatalf("request %d: other words: %v", i, err)
		}
	}
	if none, err := m.answers(t.Context(), nil, nil); err != nil || len(none) != 0 {
		t.Errorf("no requests: %d answers, %v", len(none), err)
	}
}

// A hint is the matrix times the public matrix.
func TestHintIsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const rows, columns = 17, blockColumns + 70
	m, plain := drawnMatrix(random, rows, columns)
	public := scheme.NewMatrix(wire.Hash{1})
	want := make([]uint32, rows*scheme.SecretWords)
	row := make([]uint32, scheme.SecretWords)
	for c := range columns {
		public.Rows(row, c)
		for r := range rows {
			for j, w := range row {
				want[r*scheme.SecretWords+j] += uint32(int32(plain[r*columns+c])) * w
			}
		}
	}
	for _, count := range []int{1, 3} {
		workers := par.New(count)
		done := 0
		got, err := m.hint(t.Context(), workers, public, func(d, total int) {
			if done++; d != done || total != 2 {
				t.Errorf("progress %d of %d", d, total)
			}
		})
		workers.Close()
		if err != nil || !slices.Equal(got, want) || done != 2 {
			t.Fatalf("%d workers: other words, or %d reports: %v", count, done, err)
		}
	}
}

// Work ends with its context.
func TestProductStops(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	m, _ := drawnMatrix(random, 3, 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.hint(ctx, nil, scheme.NewMatrix(wire.Hash{}), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("hint: %v", err)
	}
	if _, err := m.answers(ctx, nil, []*wire.SealedRequest{drawnRequest(random, wire.Hash{}, 1, 3, 3)}); !errors.Is(err, context.Canceled) {
		t.Errorf("answers: %v", err)
	}
}

// Entries that are set by rows or by columns are read as they were set.
func TestMatrixEntries(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	const rows, columns = 35, blockColumns + 90
	byRows, plain := drawnMatrix(random, rows, columns)
	byColumns := newMatrix(rows, columns)
	column := make([]int8, rows)
	for c := range columns {
		for r := range column {
			column[r] = plain[r*columns+c]
		}
		byColumns.setColumn(c, 0, column)
	}
	got := make([]int8, columns-5)
	for r := range rows {
		byColumns.row(got, r, 5)
		if !slices.Equal(got, plain[r*columns+5:(r+1)*columns]) {
			t.Fatalf("row %d is another", r)
		}
	}
	var size int64
	for b := range byRows.blocks {
		size += int64(len(byRows.blocks[b]))
		if !slices.Equal(byRows.blocks[b], byColumns.blocks[b]) {
			t.Errorf("block %d is another", b)
		}
	}
	if size != panelBytes(rows, columns) {
		t.Errorf("%d bytes, estimated %d", size, panelBytes(rows, columns))
	}
}

// Memory that nobody has is refused before it is taken.
func TestCheckMemory(t *testing.T) {
	if err := checkMemory("a test", panelBytes(1<<31-100, 1<<31-100)); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
	for _, bytes := range []int64{1 << 20, 65 << 20} {
		if err := checkMemory("a test", bytes); err != nil {
			t.Error(err)
		}
	}
}

// Many ciphertexts take their blocks in several rounds, and the last round may have fewer. They
// have the words that each of them has by itself, in one round.
func TestAnswersOfSeveralRounds(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const columns = 2*blockColumns + 63
	m, _ := drawnMatrix(random, 3, columns)
	for _, count := range []int{70, 200} {
		if rounds := m.blocksAtOnce(count, 3); rounds != 2 && rounds != 1 {
			t.Fatalf("%d ciphertexts: %d blocks a round", count, rounds)
		}
		many := drawnRequest(random, wire.Hash{7}, count, columns, 3)
		workers := par.New(2)
		defer workers.Close()
		got, err := m.answers(t.Context(), workers, []*wire.SealedRequest{many})
		if err != nil {
			t.Fatal(err)
		}
		for c := range count {
			one := &wire.SealedRequest{Epoch: many.Epoch, Count: 1, Columns: columns, Width: 3, Bytes: many.Bytes[c*3*columns:][:3*columns]}
			alone, err := m.answers(t.Context(), nil, []*wire.SealedRequest{one})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got[0].Words[c*3:][:3], alone[0].Words) {
				t.Fatalf("%d ciphertexts: number %d has other words", count, c)
			}
		}
	}
}
