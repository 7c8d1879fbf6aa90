package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// released returns a release of four rows of nothing but noise.
func released(t testing.TB, mode string) *release.Release {
	t.Helper()
	q := blas64.General{Rows: 4, Cols: 1, Stride: 1, Data: []float64{1, 2, 3, 5}}
	query := sensitivity.Query{Operator: sensitivity.Full{}, Sigma: 2, Alpha: 0.5, Table: sensitivity.Equal{Classes: 3}}
	bound, err := sensitivity.Tight(sensitivity.FeaturesReplace, query, q, sensitivity.Rows{})
	if err != nil {
		t.Fatal(err)
	}
	eta, err := sensitivity.RoundingError(query, q, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 3})
	if err != nil {
		t.Fatal(err)
	}
	if bound, err = bound.Inflate(eta); err != nil {
		t.Fatal(err)
	}
	c, err := mechanism.Calibrate(mechanism.CalibrationSettings{Epsilon: 4, Delta: 1e-4, Sensitivity: bound, Reach: 10})
	if err != nil {
		t.Fatal(err)
	}
	r, err := mechanism.Privatize(t.Context(), c, mechanism.NoLedger, mechanism.FirstStep{
		Displacement: blas64.General{Rows: 4, Cols: 1, Stride: 1, Data: make([]float64, 4)},
		Query:        release.Query{Sigma: 2, Alpha: 0.5, Table: "equal", Classes: 3, SigmaQ: 1, Seed: 5},
		Unit:         mechanism.Unit{Kind: release.UnitRecord, Name: "x"},
		Labels:       mechanism.LabelSettings{Mode: mode},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func question(t testing.TB) *Question {
	return &Question{Public: Hash{1, 2, 3}, Release: released(t, release.ModePublic), Labels: []int32{0, 2, 1, 1}}
}

func matches() *Matches {
	return &Matches{Question: [16]byte{9}, Hidden: 2, K: 3, IDs: []int64{5, 0, math.MaxInt64, 1, 5, 2}, Distances: []float64{0, 0, 1.5, 0.25, 0.5, 1e300}}
}

func TestAlgorithm1ComesBack(t *testing.T) {
	q := question(t)
	frame, err := q.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if kind, err := KindOf(frame); kind != KindQuestion || err != nil {
		t.Errorf("kind %v, %v", kind, err)
	}
	var again Question
	if err := again.UnmarshalBinary(frame); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&again, q) {
		t.Errorf("%+v became %+v", q, again)
	}
	m := matches()
	if frame, err = m.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	var back Matches
	if err := back.UnmarshalBinary(frame); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&back, m) {
		t.Errorf("%+v became %+v", m, back)
	}
	ids, distances := back.Row(1)
	if !reflect.DeepEqual(ids, m.IDs[3:]) || !reflect.DeepEqual(distances, m.Distances[3:]) {
		t.Errorf("row 1 is %v at %v", ids, distances)
	}
}

func TestQuestionRefuses(t *testing.T) {
	dropped := released(t, release.ModeDropped)
	damaged := *dropped
	damaged.Grid = damaged.Grid[1:]
	for name, c := range map[string]struct {
		question Question
		want     error
	}{
		"no release":                  {Question{}, ErrMessage},
		"damaged release":             {Question{Release: &damaged}, release.ErrRelease},
		"labels of a dropped release": {Question{Release: dropped, Labels: make([]int32, 4)}, ErrMessage},
		"no labels of a public one":   {Question{Release: question(t).Release}, ErrMessage},
		"too few labels":              {Question{Release: question(t).Release, Labels: make([]int32, 3)}, ErrMessage},
		"a label too large":           {Question{Release: question(t).Release, Labels: []int32{0, 0, 0, 3}}, ErrMessage},
		"a negative label":            {Question{Release: question(t).Release, Labels: []int32{0, 0, 0, -1}}, ErrMessage},
	} {
		if err := c.question.Check(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := c.question.MarshalBinary(); !errors.Is(err, c.want) {
			t.Errorf("%s: marshalled, %v", name, err)
		}
	}
}

func TestMatchesRefuse(t *testing.T) {
	for name, change := range map[string]func(*Matches){
		"no rows":              func(m *Matches) { m.Hidden = 0 },
		"an id twice":          func(m *Matches) { m.IDs[5] = 1 },
		"no matches":           func(m *Matches) { m.K = 0 },
		"a product too large":  func(m *Matches) { m.Hidden, m.K = math.MaxInt32, math.MaxInt32 },
		"too few ids":          func(m *Matches) { m.IDs = m.IDs[1:] },
		"too many distances":   func(m *Matches) { m.Distances = append(m.Distances, 1) },
		"a negative id":        func(m *Matches) { m.IDs[2] = -1 },
		"a negative distance":  func(m *Matches) { m.Distances[0] = -1 },
		"no number":            func(m *Matches) { m.Distances[2] = math.NaN() },
		"an infinite distance": func(m *Matches) { m.Distances[5] = math.Inf(1) },
		"the farthest first":   func(m *Matches) { m.Distances[0] = 7 },
	} {
		m := matches()
		change(m)
		if err := m.Check(); !errors.Is(err, ErrMessage) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := m.MarshalBinary(); !errors.Is(err, ErrMessage) {
			t.Errorf("%s: marshalled, %v", name, err)
		}
	}
}

// Sizes in a message are compared with its bytes before memory is taken: these
// claim terabytes.
func TestHostileSizes(t *testing.T) {
	frame, err := matches().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []uint64{1 << 20, math.MaxInt32, 1 << 40, math.MaxUint64} {
		for at := range 2 { // hidden rows, matches
			hostile := bytes.Clone(frame)
			binary.LittleEndian.PutUint64(hostile[headSize+16+8*at:], size)
			var m Matches
			if err := m.UnmarshalBinary(reseal(hostile)); !errors.Is(err, ErrMessage) {
				t.Errorf("size %d: %v", size, err)
			}
		}
	}
	if frame, err = question(t).MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	for cut := range len(frame) {
		var q Question
		if err := q.UnmarshalBinary(frame[:cut]); err == nil || q.Release != nil {
			t.Fatalf("read from %d of %d bytes", cut, len(frame))
		}
	}
}

func FuzzQuestion(f *testing.F) {
	frame, err := question(f).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(frame)
	f.Add(frame[:len(frame)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, frame := range [][]byte{data, signed(data)} {
			var q Question
			if q.UnmarshalBinary(frame) != nil {
				continue
			}
			if again, err := q.MarshalBinary(); err != nil || !bytes.Equal(again, frame) {
				t.Errorf("%x became %x, %v", frame, again, err)
			}
		}
	})
}

func FuzzMatches(f *testing.F) {
	frame, err := matches().MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(frame)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, frame := range [][]byte{data, signed(data)} {
			var m Matches
			if m.UnmarshalBinary(frame) != nil {
				continue
			}
			if again, err := m.MarshalBinary(); err != nil || !bytes.Equal(again, frame) {
				t.Errorf("%x became %x, %v", frame, again, err)
			}
		}
	})
}

// signed gives data a right checksum, so that the fuzzer gets behind it.
func signed(data []byte) []byte {
	if len(data) < frameSize {
		return data
	}
	return reseal(data)
}
