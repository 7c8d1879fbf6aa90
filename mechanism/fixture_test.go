package mechanism

import (
	"crypto/rand"
	"io"
	chacha "math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/internal/noise"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// All randomness of the statistical tests comes from a fixed stream that only tests have, so a
// test either always passes or always fails, and with PM_TESTS=long sizes are the smallest that
// have the power stated in the comment of the test. With PM_TESTS=all the system's entropy and
// the full sizes are used. The critical values allow one false alarm in 1e9 in both.

// pick returns the size for what is wanted; a tenth of the usual size is enough to find all but
// small mistakes.
func pick(usual, full int) int { return longtest.Pick(max(1, usual/10), usual, full) }

// randomness returns the randomness of a test.
func randomness(name string) io.Reader {
	if longtest.All() {
		return rand.Reader
	}
	return fixed(name)
}

// fixed returns a stream that is the same in every run.
func fixed(name string) io.Reader {
	var s noise.Seed
	copy(s[:], "test only: "+name)
	return chacha.NewChaCha8(s)
}

// bounds keeps what boundOf has made.
var bounds sync.Map

type boundKey struct {
	relation      sensitivity.Relation
	rows, columns int
	scale         float64
}

var testQuery = sensitivity.Query{Operator: sensitivity.Full{}, Sigma: 6, Alpha: 0.6, Table: sensitivity.Gaussian{Classes: 10, Sigma: 6}}

// matrix is a Q for tests, with entries in [-scale, scale].
func matrix(rows, columns int, scale float64) blas64.General {
	q := blas64.General{Rows: rows, Cols: columns, Stride: columns, Data: make([]float64, rows*columns)}
	words := chacha.NewPCG(1, 2)
	for i := range q.Data {
		q.Data[i] = (float64(words.Uint64()>>11)*0x1p-52 - 1) * scale
	}
	return q
}

// boundOf returns a bound of a matrix of the given shape, proportional to scale
// except for rounding.
func boundOf(t testing.TB, relation sensitivity.Relation, rows, columns int, scale float64) sensitivity.Bound {
	t.Helper()
	key := boundKey{relation, rows, columns, scale}
	if b, ok := bounds.Load(key); ok {
		return b.(sensitivity.Bound)
	}
	q := matrix(rows, columns, scale)
	b, err := testQuery.Tight(relation, q, sensitivity.Rows{})
	if err != nil {
		t.Fatal(err)
	}
	eta, err := testQuery.RoundingError(q, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 8})
	if err != nil {
		t.Fatal(err)
	}
	if b, err = b.Inflate(eta); err != nil {
		t.Fatal(err)
	}
	bounds.Store(key, b)
	return b
}

// boundNear returns a bound with nearly the given value.
func boundNear(t testing.TB, rows, columns int, value float64) sensitivity.Bound {
	t.Helper()
	return boundOf(t, sensitivity.ReplaceOne, rows, columns, value/boundOf(t, sensitivity.ReplaceOne, rows, columns, 1).Value())
}

// calibrate is Calibrate for parameters that must be accepted.
func calibrate(t testing.TB, p CalibrationSettings) Calibration {
	t.Helper()
	if p.Reach == 0 {
		p.Reach = p.Sensitivity.Value()
	}
	c, err := Calibrate(p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// request is a valid request for a matrix of zeros.
func request(rows, columns int) FirstStep {
	return FirstStep{
		Displacement: blas64.General{Rows: rows, Cols: columns, Stride: columns, Data: make([]float64, rows*columns)},
		Query:        release.Query{Sigma: 6, Alpha: 0.6, Table: "gaussian", Classes: 10, SigmaQ: 1, Seed: 7},
		Unit:         Unit{Kind: release.UnitRecord, Name: "someone", New: true},
		Labels:       LabelSettings{Mode: release.ModeDropped},
	}
}

// fixture returns a calibration at (1, 1e-5) and a request that fits it.
func fixture(t testing.TB, rows, columns int, scale float64) (Calibration, FirstStep) {
	t.Helper()
	b := boundOf(t, sensitivity.ReplaceOne, rows, columns, scale)
	return calibrate(t, CalibrationSettings{Epsilon: 1, Delta: 1e-5, Sensitivity: b}), request(rows, columns)
}
