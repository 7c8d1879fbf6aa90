package client

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/entropy"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
)

// Two asks of one row share no ciphertext, and no two ciphertexts a secret: probes of one
// request neither.
func TestFreshSecrets(t *testing.T) {
	g := newGallery(t, shapes[2])
	c := g.client(t)
	row := randomRows(rand.New(rand.NewPCG(1, 2)), 1, 24, 1)
	twice := blas64.General{Rows: 2, Cols: 24, Stride: 24, Data: slices.Concat(row.Data, row.Data)}
	seen := make(map[uint32]string)
	for i, q := range append(ask(t, c, row), append(ask(t, c, row), ask(t, c, twice)...)...) {
		if len(q.secret.sealed.secrets) != 4*scheme.SecretWords {
			t.Fatalf("%d words of secrets", len(q.secret.sealed.secrets))
		}
		for p := range 4 {
			name := fmt.Sprintf("query %d, probe %d", i, p)
			// Of 2^32 words, 23,000 of 16 secrets are all different with a chance of .94: so
			// some may agree, and those of two equal secrets all do.
			agree := make(map[string]int)
			for _, w := range q.secret.sealed.secrets[p*scheme.SecretWords:][:scheme.SecretWords] {
				if other, found := seen[w]; found {
					agree[other]++
				}
				seen[w] = name
			}
			for other, n := range agree {
				if n > 3 {
					t.Errorf("%s and %s have %d words of their secrets in common", name, other, n)
				}
			}
		}
	}
	// Of the 216 words of a ciphertext, three bytes of each, two that are independent have more
	// than 5 in common with a chance below 1e-30.
	a, b := ask(t, c, row)[0].Request(), ask(t, c, row)[0].Request()
	for p := range 4 {
		for o := range 8 {
			from, at := a, o
			if o >= 4 {
				from, at = b, o-4
			}
			same := 0
			for i, w := range words(from, at) {
				if w == words(a, p)[i] {
					same++
				}
			}
			if o != p && same > 5 {
				t.Errorf("ciphertexts %d and %d have %d words in common", p, o, same)
			}
		}
	}
}

// A seed has 32 bytes from the source, one seed a ciphertext.
func TestWholeSeeds(t *testing.T) {
	g := newGallery(t, shapes[1])
	c := g.client(t)
	seeds := newFixedSeeds(6)
	c.seeds = seeds
	ask(t, c, randomRows(rand.New(rand.NewPCG(1, 2)), 3, 5, 1))
	if n := len(seeds.given); n != 3*2 || seeds.whole() != n {
		t.Errorf("%d whole seeds of %d", seeds.whole(), n)
	}
}

// The source of seeds is the operating system.
func TestSeedsAreTheSystems(t *testing.T) {
	if c := newGallery(t, shapes[1]).client(t); c.seeds != (entropy.System{}) {
		t.Errorf("seeds come from %T", c.seeds)
	}
	if r := newRecordServer(t, someRecords(3, 5), 1).client(t); r.seeds != (entropy.System{}) {
		t.Errorf("seeds of fetches come from %T", r.seeds)
	}
}

// Who sends a query again sends the same bytes, whatever happened in between.
func TestRetry(t *testing.T) {
	g := newGallery(t, shapes[1])
	c := g.client(t)
	q := ask(t, c, randomRows(rand.New(rand.NewPCG(1, 2)), 1, 5, 1))[0]
	first, err := q.Request().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Rank(q, g.answer(q.Request()), 3); err != nil {
		t.Fatal(err)
	}
	q.Forget()
	if again, err := q.Request().MarshalBinary(); err != nil || !bytes.Equal(first, again) {
		t.Errorf("other bytes: %v", err)
	}
}

// All requests have the shape of the manifest, whatever the row, and take as much randomness.
// A row that is no query is refused when the answer is there, and not before.
func TestRowsThatAreNoQuery(t *testing.T) {
	g := newGallery(t, shapes[2])
	c := g.client(t)
	m := &g.manifest
	row := func(v ...float64) []float64 { return append(v, make([]float64, m.Dimension-len(v))...) }
	for name, test := range map[string]struct {
		row []float64
		err error
	}{
		"zeros":       {row(), nil},
		"one":         {row(1), nil},
		"tiny":        {row(5e-324, -5e-324), nil},
		"large":       {row(1e150, -1e150), nil},
		"not finite":  {row(0, math.NaN()), ErrRecord},
		"infinite":    {row(math.Inf(1), 1), ErrRecord},
		"below all":   {row(0, 0, math.Inf(-1)), ErrRecord},
		"too large":   {row(0, 1e151), ErrRecord},
		"the largest": {row(-math.MaxFloat64), ErrRecord},
	} {
		seeds := newFixedSeeds(1)
		c.seeds = seeds
		q := ask(t, c, blas64.General{Rows: 1, Cols: m.Dimension, Stride: m.Dimension, Data: test.row})[0]
		r := q.Request()
		if err := r.Check(); err != nil || r.Count != m.Probes || r.Columns != m.Columns() || r.Width != 3 || r.Epoch != g.epoch || len(seeds.given) != m.Probes {
			t.Errorf("%s: %d ciphertexts of %d words, %d bytes each: %v", name, r.Count, r.Columns, r.Width, err)
		}
		matches, err := c.Rank(q, g.answer(r), 5)
		if !errors.Is(err, test.err) || (err == nil) != (len(matches) == 5) {
			t.Errorf("%s: %d matches, error %v", name, len(matches), err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "0123456789") {
			t.Errorf("%s: the error tells a number: %v", name, err)
		}
	}
	// Zeros are what is encrypted in place of such a row, in the cells that are near to them.
	bad, zero := c.newQueryRow(row(1, math.NaN())), c.newQueryRow(row())
	if slices.ContainsFunc(bad.words, func(w uint32) bool { return w != 0 }) || !slices.Equal(bad.cells, zero.cells) || bad.length != 0 {
		t.Error("something of the row is left")
	}
}

func TestAskRefuses(t *testing.T) {
	g := newGallery(t, shapes[1])
	c := g.client(t)
	if _, err := c.Ask(t.Context(), blas64.General{Rows: 1, Cols: 4, Stride: 4, Data: make([]float64, 4)}); !errors.Is(err, ErrRecord) {
		t.Errorf("another dimension: %v", err)
	}
	if _, err := c.Ask(t.Context(), blas64.General{Rows: 2, Cols: 5, Stride: 5, Data: make([]float64, 9)}); err == nil {
		t.Error("rows that are not there")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := c.Ask(ended, blas64.General{Rows: 1, Cols: 5, Stride: 5, Data: make([]float64, 5)}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// Neither the rows nor their number decide about how a row is encrypted: the same secrets give
// the same bytes for any number of workers, and rows stay as they are.
func TestWorkers(t *testing.T) {
	g := newGallery(t, shape{9, 3, 24, 4, 0})
	rows := randomRows(rand.New(rand.NewPCG(1, 2)), 3, 24, 1)
	before := slices.Clone(rows.Data)
	var want []byte
	for _, workers := range []int{1, 2, 5} {
		c := g.client(t)
		c.workers, c.seeds = workers, newFixedSeeds(4)
		var got []byte
		for _, q := range ask(t, c, rows) {
			got = append(got, q.Request().Bytes...)
		}
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d workers: other bytes", workers)
		}
	}
	if !slices.Equal(rows.Data, before) {
		t.Error("the rows have changed")
	}
}

// No way to print or encode a query shows its secrets.
func TestQueriesDoNotPrint(t *testing.T) {
	g := newGallery(t, shapes[1])
	q := ask(t, g.client(t), randomRows(rand.New(rand.NewPCG(1, 2)), 1, 5, 1))[0]
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		for _, v := range []any{q, *q, []*Query{q}, struct{ Q *Query }{q}} {
			if got := fmt.Sprintf(format, v); !strings.Contains(got, "sealed query") || len(got) > 80 {
				t.Errorf("%s: %s", format, got)
			}
		}
	}
	if b, err := json.Marshal([]any{q}); err != nil || string(b) != "[{}]" {
		t.Errorf("JSON %s: %v", b, err)
	}
	if err := gob.NewEncoder(new(bytes.Buffer)).Encode(q); err == nil {
		t.Error("gob takes a query")
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("asked", "query", q)
	if !strings.Contains(log.String(), `query="sealed query"`) {
		t.Errorf("log: %s", log.String())
	}
}

// Forget leaves nothing of a query but its request.
func TestForget(t *testing.T) {
	g := newGallery(t, shapes[1])
	c := g.client(t)
	q := ask(t, c, randomRows(rand.New(rand.NewPCG(1, 2)), 1, 5, 1))[0]
	s := q.secret
	q.Forget()
	for _, left := range [][]uint32{s.sealed.secrets, s.row.words, s.row.cells} {
		if slices.ContainsFunc(left, func(w uint32) bool { return w != 0 }) {
			t.Error("a secret is left")
		}
	}
	for _, stream := range s.sealed.streams {
		if stream != nil {
			t.Error("a seed is left")
		}
	}
	if s.row.length != 0 {
		t.Error("the length is left")
	}
	if _, err := c.Rank(q, g.answer(q.Request()), 1); !errors.Is(err, errForgotten) || !errors.Is(err, ErrAnswer) || errors.Is(err, ErrVersion) {
		t.Errorf("error %v", err)
	}
	new(Query).Forget() // has nothing, and does not panic
	new(Fetching).Forget()
}
