package client

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/seed-64e14a55/privatemail/internal/rotation"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// fixedSeeds gives the same seeds at each run, and keeps those it gave.
type fixedSeeds struct {
	from  *rand.ChaCha8
	given [][]byte
}

func newFixedSeeds(n byte) *fixedSeeds { return &fixedSeeds{from: rand.NewChaCha8([32]byte{n})} }

func (f *fixedSeeds) Read(p []byte) (int, error) {
	n, err := f.from.Read(p)
	f.given = append(f.given, bytes.Clone(p))
	return n, err
}

// whole returns how many seeds of 32 bytes were given.
func (f *fixedSeeds) whole() (n int) {
	for _, seed := range f.given {
		if len(seed) == 32 {
			n++
		}
	}
	return n
}

var modulus = new(big.Int).Lsh(big.NewInt(1), 32)

// plainSecret returns the secret and the errors of a seed, as the definition has them.
func plainSecret(t *testing.T, seed []byte, columns int) (secret, errors []*big.Int) {
	t.Helper()
	block, err := aes.NewCipher(seed)
	if err != nil {
		t.Fatal(err)
	}
	stream := make([]byte, 4*scheme.SecretWords+8*columns)
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(stream, stream)
	for i := range scheme.SecretWords {
		secret = append(secret, big.NewInt(int64(binary.LittleEndian.Uint32(stream[4*i:]))))
	}
	for i := range columns {
		errors = append(errors, big.NewInt(plainError(binary.LittleEndian.Uint64(stream[4*scheme.SecretWords+8*i:]))))
	}
	return secret, errors
}

// plainError is sampleError with branches.
func plainError(word uint64) int64 {
	size := int64(0)
	for size < scheme.MaxError && word>>1 >= scheme.ErrorTable()[size] {
		size++
	}
	if word&1 == 1 {
		return -size
	}
	return size
}

// dot returns the sum of products, modulo 2^32.
func dot[T any](a []T, of func(T) int64, b []*big.Int) *big.Int {
	sum := new(big.Int)
	for i, v := range a {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(of(v)), b[i]))
	}
	return sum.Mod(sum, modulus)
}

func word(v uint32) int64 { return int64(v) }
func entry(v int8) int64  { return int64(v) }

// roundedToStep returns a number over 256, rounded half to even, modulo 2^24.
func roundedToStep(u *big.Int) uint32 {
	return uint32(uint64(math.RoundToEven(float64(u.Uint64())/256)) & (1<<24 - 1))
}

// Requests, answers and what is decrypted are those of whole numbers of any size.
func TestAgainstBigIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range []shape{{1, 3, 2, 1, 0}, {4, 3, 5, 2, 3}, {5, 2, 27, 3, 0}} {
		g := newGallery(t, s)
		c := g.client(t)
		seeds := newFixedSeeds(1)
		c.seeds = seeds
		m := &g.manifest
		queries := ask(t, c, randomRows(r, 2, s.dimension, 1))
		if seeds.whole() != 2*s.probes {
			t.Fatalf("%v: %d seeds", s, seeds.whole())
		}
		for i, q := range queries {
			answer := g.answer(q.Request())
			workers := par.New(1)
			got, err := q.secret.sealed.decrypt(workers, c.versions[0].hint, answer.Words)
			workers.Close()
			if err != nil {
				t.Fatal(err)
			}
			for p, cell := range q.secret.row.cells {
				secret, errors := plainSecret(t, seeds.given[i*s.probes+p], m.Columns())
				var u []*big.Int // as the server has it
				for column, e := range errors {
					sum := dot(g.public[column*scheme.SecretWords:][:scheme.SecretWords], word, secret)
					sum.Add(sum, e)
					if column/s.dimension == int(cell) {
						sum.Add(sum, big.NewInt(int64(q.secret.row.words[column%s.dimension])))
					}
					sent := roundedToStep(sum.Mod(sum, modulus))
					if got := words(q.Request(), p)[column] >> 8; got != sent {
						t.Fatalf("%v: query %d, probe %d, column %d: %#x, want %#x", s, i, p, column, got, sent)
					}
					u = append(u, big.NewInt(int64(sent)<<8))
				}
				for row := range s.length {
					want := dot(g.row(row), entry, u)
					want.Sub(want, dot(g.hintRow(row), word, secret)).Mod(want, modulus)
					if have := got[row*s.probes+p]; uint64(have) != want.Uint64() {
						t.Fatalf("%v: query %d, probe %d, row %d: %#x, want %#x", s, i, p, row, have, want)
					}
				}
			}
		}
	}
}

// What is encrypted is the rotated row at length kappa in the columns of the nearest cells, and
// nothing elsewhere.
func TestPlaintext(t *testing.T) {
	g := newGallery(t, shape{7, 3, 5, 3, 0})
	c := g.client(t)
	row := []float64{3, -4, 0, 12, 0} // of length 13
	q := c.newQueryRow(slices.Clone(row))
	if q.length != 13 || q.valid != math.MaxUint64 {
		t.Errorf("length %g, valid %x", q.length, q.valid)
	}
	nearest := make(map[uint32]bool)
	for name := range g.exact(row) {
		nearest[name/3] = true
	}
	kappa := float64(g.manifest.Kappa)
	rotated := make([]float64, len(row))
	rotation.Row(rotated, row)
	for p, cell := range q.cells {
		if !nearest[cell] {
			t.Errorf("probe %d is of cell %d, which is not near", p, cell)
		}
		got := make([]uint32, 35)
		q.add(got[:20], p, 0)
		q.add(got[20:], p, 20)
		for i, w := range got {
			want := 0.
			if i/5 == int(cell) {
				want = math.RoundToEven(kappa * rotated[i%5] / 13)
			}
			if math.Abs(float64(int32(w))-want) > 1 {
				t.Errorf("probe %d, column %d: %d, want %g", p, i, int32(w), want)
			}
		}
		delete(nearest, cell)
	}
}

// nothing is a plaintext of zeros.
type nothing struct{}

func (nothing) add([]uint32, int, int) {}

// Errors follow the table: a chi-square test of a million of them, read out of ciphertexts
// before rounding. Seeds are fixed; with others it would fail once in a million runs.
func TestErrorsFollowTheTable(t *testing.T) {
	const count, columns = 64, 1 << 14
	seeds := newFixedSeeds(2)
	c, err := newCiphertexts(seeds, count, columns, 4, nothing{})
	if err != nil {
		t.Fatal(err)
	}
	workers := par.New(2)
	defer workers.Close()
	matrix := scheme.NewMatrix(wire.Hash{9})
	if err := encrypt(t.Context(), workers, matrix, []*ciphertexts{c}); err != nil {
		t.Fatal(err)
	}
	counts := make(map[int32]int)
	request := c.request(wire.Hash{9})
	sent := make([][]uint32, count)
	for i := range sent {
		sent[i] = words(request, i)
	}
	const block = 64
	rows, products := make([]uint32, block*scheme.SecretWords), make([]uint32, block*count)
	for first := 0; first < columns; first += block {
		matrix.Rows(rows, first)
		simd.At(simd.Best()).WordDots(products, rows, c.secrets, scheme.SecretWords)
		for i, product := range products {
			counts[int32(sent[i%count][first+i/count]-product)]++
		}
	}
	checkLaw(t, counts, count*columns)
}

// checkLaw compares counts of errors with the table, those of sizes above 28 together.
func checkLaw(t *testing.T, counts map[int32]int, n int) {
	t.Helper()
	const last = 28
	table := scheme.ErrorTable()
	chance := func(size int32) float64 { // of an error of one sign
		switch {
		case size == 0:
			return math.Ldexp(float64(table[0]), -63)
		case size == last+1:
			return math.Ldexp(float64(1<<63-table[last]), -64)
		}
		return math.Ldexp(float64(table[size]-table[size-1]), -64)
	}
	pooled := make(map[int32]int)
	for e, k := range counts {
		if e < -scheme.MaxError || e > scheme.MaxError {
			t.Fatalf("an error of %d", e)
		}
		pooled[max(-last-1, min(last+1, e))] += k
	}
	var chi float64
	for e := int32(-last - 1); e <= last+1; e++ {
		want := float64(n) * chance(max(e, -e))
		off := float64(pooled[e]) - want
		chi += off * off / want
	}
	if limit := (distuv.ChiSquared{K: 2*last + 2}).Quantile(1 - 1e-6); chi > limit {
		t.Errorf("chi-square is %g, at most %g is right", chi, limit)
	}
}

// The sampler is the plain one, at the edges of the table as well.
func TestSampleError(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	drawn := []uint64{0, 1, math.MaxUint64, math.MaxUint64 - 1}
	for _, v := range scheme.ErrorTable() {
		drawn = append(drawn, v<<1, v<<1|1, v<<1-1, v<<1-2)
	}
	for range 1000 {
		drawn = append(drawn, r.Uint64(), r.Uint64()>>r.IntN(64), ^(r.Uint64() >> r.IntN(64)))
	}
	for _, w := range drawn {
		if got, want := int64(int32(sampleError(w))), plainError(w); got != want {
			t.Errorf("%#x: %d, want %d", w, got, want)
		}
	}
}

// Rounding is to the nearest, in the middle to the even one, and has a mean of 0.
func TestRounded(t *testing.T) {
	var sum int64
	for low := range uint32(1 << 10) {
		for _, high := range []uint32{0, 12345 << 10, 1<<32 - 1<<10} {
			w := high | low
			if got, want := rounded(w), roundedToStep(big.NewInt(int64(w))); got&(1<<24-1) != want || got>>24 != 0 && got != 1<<24 {
				t.Errorf("%#x: %#x, want %#x", w, got, want)
			}
			sum += int64(int32(rounded(w)<<8 - w))
		}
	}
	if sum != 0 {
		t.Errorf("the mean is %d", sum)
	}
}

// Errors of scores have the deviation that follows from the law and the rounding, within 2
// percent, and none of a million is beyond the certificate.
func TestErrorsOfScores(t *testing.T) {
	s := shape{8, 1000, 16, 8, 7}
	g := newGallery(t, s)
	c := g.client(t)
	c.seeds = newFixedSeeds(3)
	m := &g.manifest
	rowSquares := make([]float64, m.Length)
	for r := range rowSquares {
		for _, v := range g.row(r) {
			rowSquares[r] += float64(v) * float64(v)
		}
	}
	law := scheme.ErrorTable()
	variance := (1<<16 + 2) / 12. // of the rounding, to even, of what is uniform
	below := uint64(0)
	for size, most := range law {
		variance += float64(size*size) * math.Ldexp(float64(most-below), -63)
		below = most
	}
	worst := c.Bound() * float64(m.Kappa) * m.Scale / 2
	var squares float64
	n := 0
	for _, q := range ask(t, c, randomRows(rand.New(rand.NewPCG(7, 8)), 125, s.dimension, 1)) {
		workers := par.New(2)
		scores, err := q.secret.sealed.decrypt(workers, c.versions[0].hint, g.answer(q.Request()).Words)
		workers.Close()
		if err != nil {
			t.Fatal(err)
		}
		for p, cell := range q.secret.row.cells {
			for r := range m.Length {
				var exact int64
				for j, v := range g.stored(cell*uint32(m.Length) + uint32(r)) {
					exact += int64(v) * int64(int32(q.secret.row.words[j]))
				}
				off := float64(int64(int32(scores[r*s.probes+p])) - exact)
				if math.Abs(off) > worst {
					t.Fatalf("a score is off by %g, the certificate says %g", off, worst)
				}
				squares += off * off / rowSquares[r]
				n++
			}
		}
	}
	if ratio := math.Sqrt(squares / float64(n) / variance); n < 1e6 || !(ratio >= .98 && ratio <= 1.02) {
		t.Errorf("over %d scores the deviation is %g of the predicted one", n, ratio)
	}
}

// A source that fails is an error, and nothing is asked.
func TestNoRandomness(t *testing.T) {
	g := newGallery(t, shapes[1])
	c := g.client(t)
	c.seeds = io.LimitReader(newFixedSeeds(1), 40)
	if q, err := c.Ask(t.Context(), randomRows(rand.New(rand.NewPCG(1, 1)), 1, 5, 1)); err == nil || q != nil {
		t.Errorf("asked without randomness: %v", err)
	}
}
