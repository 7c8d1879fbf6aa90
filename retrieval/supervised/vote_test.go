package supervised_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sort"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

func TestVote(t *testing.T) {
	for _, c := range []struct {
		labels []int32 // nearest first
		class  int32
		share  float64
	}{
		{nil, -1, 0},
		{[]int32{-1, -1}, -1, 0},
		{[]int32{7}, 7, 1},
		{[]int32{7, 3}, 7, 2. / 3},
		{[]int32{7, 3, 3}, 7, 3. / 6}, // as many votes: the nearest row wins
		{[]int32{3, 7, 7}, 3, 3. / 6},
		{[]int32{7, 3, 3, 7}, 7, 5. / 10},
		{[]int32{7, 3, 3, 3}, 3, 6. / 10},
		{[]int32{7, -1, 3, -1, 3}, 7, 3. / 6}, // who has no label has no vote and no place
		{[]int32{0, 1, 2, 2, 1, 0, 1, 2}, 1, 13. / 36},
		{[]int32{9, 9, 1, 1, 1, 1, 1, 1}, 1, 21. / 36},
	} {
		class, share := supervised.Vote(c.labels)
		if class != c.class || share != c.share {
			t.Errorf("%v: class %d with %v of the votes, want %d with %v", c.labels, class, share, c.class, c.share)
		}
	}
}

// wantVotes tells classes by sorting all distances.
func wantVotes(m *supervised.Model, z []float32, k int) (class int32, share float64, votes map[int32]float64) {
	type row struct {
		at      int
		squared float64
	}
	var rows []row
	for i, label := range m.Labels {
		if label < 0 {
			continue
		}
		sum := 0.
		for j, v := range z {
			d := float64(v) - float64(m.X.Data[i*m.X.Stride+j])
			sum += d * d
		}
		rows = append(rows, row{i, sum})
	}
	sort.SliceStable(rows, func(a, b int) bool { return rows[a].squared < rows[b].squared })
	rows = rows[:min(k, len(rows))]
	votes = map[int32]float64{}
	n := len(rows)
	for i, r := range rows {
		votes[m.Labels[r.at]] += float64(n-i) / (float64(n*(n+1)) / 2)
	}
	class, share = -1, 0
	for _, r := range rows { // the nearest first
		if label := m.Labels[r.at]; votes[label] > share+1e-12 {
			class, share = label, votes[label]
		}
	}
	return class, share, votes
}

// A Voter asks the nearest rows that have a label, in a model of a fit and in that of its file.
func TestVoter(t *testing.T) {
	x, labels := labelledRows(200, 5, 41)
	for i, label := range labels {
		if label >= 0 {
			labels[i] = 3*label + 1 // labels need not follow each other
		}
	}
	e := newEngine(t)
	fit, err := supervised.Fit(t.Context(), e, single(x), labels, fixed("standardize,discriminate,unit-images,steps=1,beta=2"))
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/model"
	if err := fit.Save(t.Context(), path, supervised.About{}); err != nil {
		t.Fatal(err)
	}
	saved, err := supervised.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	queries, _ := labelledRows(5000, 5, 42) // more than are looked up at a time
	z, err := fit.Map.Apply(single(queries))
	if err != nil {
		t.Fatal(err)
	}
	var voters []*supervised.Voter
	for _, m := range []*supervised.Model{fit, saved.Model} {
		v, err := m.Voter(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		voters = append(voters, v)
	}
	if err := saved.Close(); err != nil { // the voter has a copy
		t.Fatal(err)
	}
	n := z.Rows
	for _, k := range []int{0, 1, 3, 8, 1000} {
		var all []supervised.Votes
		for i, v := range voters {
			if got := v.Classes(); !slices.Equal(got, []int32{1, 4, 7, 10, 13}) {
				t.Fatalf("classes %v", got)
			}
			to := supervised.Votes{Labels: make([]int32, n), Shares: make([]float32, n), Table: blas32.General{Rows: n, Cols: 5, Stride: 6, Data: make([]float32, 6*n)}}
			with := e
			if i == 1 {
				with = newEngine(t, privatemail.WithWorkers(3))
			}
			if err := v.Vote(t.Context(), with, z, k, to); err != nil {
				t.Fatal(err)
			}
			all = append(all, to)
		}
		if !slices.Equal(all[0].Labels, all[1].Labels) || !slices.Equal(all[0].Shares, all[1].Shares) || !slices.Equal(all[0].Table.Data, all[1].Table.Data) {
			t.Errorf("k = %d: the file, or another number of workers, votes differently", k)
		}
		want := k
		if k == 0 {
			want = supervised.Voters
		}
		for i := 0; i < n; i += 7 {
			class, share, votes := wantVotes(fit, z.Data[i*z.Stride:][:z.Cols], want)
			if all[0].Labels[i] != class || math.Abs(float64(all[0].Shares[i])-share) > 1e-6 {
				t.Fatalf("k = %d, row %d: class %d with %v, want %d with %v", k, i, all[0].Labels[i], all[0].Shares[i], class, share)
			}
			for j, label := range voters[0].Classes() {
				if got := float64(all[0].Table.Data[6*i+j]); math.Abs(got-votes[label]) > 1e-6 {
					t.Fatalf("k = %d, row %d: class %d has %v, want %v", k, i, label, got, votes[label])
				}
			}
		}
	}
}

func TestVoterRefuses(t *testing.T) {
	x, labels := labelledRows(40, 3, 43)
	e := newEngine(t)
	m, err := supervised.Fit(t.Context(), e, single(x), labels, fixed("scaled"))
	if err != nil {
		t.Fatal(err)
	}
	labels[0] = 4 // those of the model are its own
	if m.Labels[0] == 4 {
		t.Error("the model has the labels of the caller")
	}
	v, err := m.Voter(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	nan := blas32.General{Rows: 5000, Cols: 3, Stride: 3, Data: make([]float32, 15000)}
	nan.Data[4500*3+1] = float32(math.NaN())
	good := blas32.General{Rows: 2, Cols: 3, Stride: 3, Data: make([]float32, 6)}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		z    blas32.General
		k    int
		to   supervised.Votes
		want error
	}{
		"columns":  {t.Context(), blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: make([]float32, 2)}, 1, supervised.Votes{}, points.ErrShape},
		"voters":   {t.Context(), good, -1, supervised.Votes{}, points.ErrShape},
		"labels":   {t.Context(), good, 1, supervised.Votes{Labels: make([]int32, 1)}, points.ErrShape},
		"shares":   {t.Context(), good, 1, supervised.Votes{Shares: make([]float32, 3)}, points.ErrShape},
		"table":    {t.Context(), good, 1, supervised.Votes{Table: blas32.General{Rows: 2, Cols: 4, Stride: 4, Data: make([]float32, 8)}}, points.ErrShape},
		"a NaN":    {t.Context(), nan, 1, supervised.Votes{}, points.ErrNonFinite},
		"the end":  {ended, good, 1, supervised.Votes{}, context.Canceled},
		"nothing":  {t.Context(), good, 1, supervised.Votes{}, nil},
		"no image": {t.Context(), blas32.General{Rows: 0, Cols: 3, Stride: 3}, 1, supervised.Votes{}, nil},
	} {
		if err := v.Vote(c.ctx, e, c.z, c.k, c.to); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		} else if e, ok := errors.AsType[*points.NonFiniteError](err); ok && e.Row != 4500 {
			t.Errorf("%s: %v", name, err)
		}
	}
	m.Labels = nil
	if _, err := m.Voter(t.Context(), e); !errors.Is(err, supervised.ErrNoClasses) {
		t.Errorf("no labels: %v", err)
	}
	m.Labels = make([]int32, 39)
	if _, err := m.Voter(t.Context(), e); !errors.Is(err, points.ErrShape) {
		t.Errorf("few labels: %v", err)
	}
}

// A model cannot be saved with labels or names that do not fit.
func TestSaveRefusesClasses(t *testing.T) {
	x, labels := labelledRows(40, 3, 44)
	m, err := supervised.Fit(t.Context(), newEngine(t), single(x), labels, fixed("scaled"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		labels []int32
		names  []string
		want   error
	}{
		"few labels":   {labels[:39], nil, points.ErrShape},
		"below -1":     {slices.Concat(labels[:39], []int32{-2}), nil, kernel.ErrLabels},
		"few names":    {labels, []string{"a", "b", "c", "d"}, kernel.ErrLabels},
		"names twice":  {labels, []string{"a", "b", "c", "d", "a"}, kernel.ErrLabels},
		"not UTF-8":    {labels, []string{"a", "b", "c", "d", "\xff"}, kernel.ErrLabels},
		"they fit":     {labels, []string{"a", "b", "c", "d", "e", "f"}, nil},
		"none, either": {nil, nil, nil},
	} {
		m.Labels, m.ClassNames = c.labels, c.names
		if err := m.Save(t.Context(), t.TempDir()+"/model", supervised.About{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m.Map.ColumnNames = []string{"a"}
	if err := m.Map.Check(); !errors.Is(err, points.ErrShape) {
		t.Errorf("one name for three columns: %v", err)
	}
}
