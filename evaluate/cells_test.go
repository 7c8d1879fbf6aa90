package evaluate

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
)

func digitsTask(t testing.TB, seed uint64) *CellsTask {
	t.Helper()
	f, labels, split := digitsFeatures(t, seed)
	return NewCellsTask(f, labels, split)
}

func cellsTable(t testing.TB, task *CellsTask, settings CellsTableSettings) *CellsTable {
	t.Helper()
	table, err := NewCellsTable(t.Context(), task, settings)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func cellsAt(t testing.TB, table *CellsTable, epsilon float64) *CellsFigures {
	t.Helper()
	f, err := table.At(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The figures that mode cells has to reach on the digits, means of the seeds 1 to
// 5: lists of an eighth, without the base. Expected values, so nothing is random
// about them.
func TestCellsOnDigits(t *testing.T) {
	epsilons := []float64{1, 2, 4, 8}
	var overlap, random [4]float64
	for seed := uint64(1); seed <= 5; seed++ {
		task := digitsTask(t, seed)
		settings := CellsTableSettings{CellsSettings: server.CellsSettings{Epsilon: 1, Seed: seed}}
		few := cellsTable(t, task, settings)
		settings.Epsilon = 8
		many := cellsTable(t, task, settings)
		for i, epsilon := range epsilons {
			table := few
			if epsilon == 8 {
				table = many
			}
			f := cellsAt(t, table, epsilon)
			overlap[i] += f.Overlap / 5
			random[i] += table.NoQuery().Overlap / 5
			if f.Guess > f.GuessBound {
				t.Errorf("seed %d, epsilon %g: the class is guessed with %.3f, above %.3f", seed, epsilon, f.Guess, f.GuessBound)
			}
			if d := table.NoQuery().Download; d > 1.1/8 {
				t.Errorf("seed %d, epsilon %g: the mean list is %.4f of the gallery", seed, epsilon, d)
			}
		}
	}
	for i, least := range []float64{.21, .39, .76, .95} {
		t.Logf("epsilon %g: overlap %.3f, no query %.3f", epsilons[i], overlap[i], random[i])
		if overlap[i] < least {
			t.Errorf("epsilon %g: overlap %.3f, want %.2f", epsilons[i], overlap[i], least)
		}
		if math.Abs(random[i]-0.13) > 0.02 {
			t.Errorf("a random sample of an eighth has overlap %.3f", random[i])
		}
	}
}

// At a vanishing epsilon the report says nothing: what is retrieved is what any
// cell gives, and the class is guessed as well as without it.
func TestCellsWithoutEpsilon(t *testing.T) {
	task := digitsTask(t, 1)
	table := cellsTable(t, task, CellsTableSettings{CellsSettings: server.CellsSettings{Epsilon: 1, Seed: 1}})
	f := cellsAt(t, table, 1e-6)
	var any Retrieved
	for _, o := range table.outcome {
		any.add(o, 1/float64(len(table.outcome)))
	}
	if math.Abs(f.Overlap-any.Overlap) > 1e-5 || math.Abs(f.Recall-any.Recall) > 1e-5 {
		t.Errorf("%+v, any cell gives %+v", f, any)
	}
	if most := retrieval.CommonestMass(task.QueryLabels, 1); f.Guess > most*1.00001 {
		t.Errorf("the class is guessed with %g, the commonest has %g", f.Guess, most)
	}
	if f.Overlap > 0.16 {
		t.Errorf("overlap %g", f.Overlap)
	}
}

// The whole protocol, sampled, against the expectation, within three standard
// errors; with the lists and with the base beside them. A wrong epsilon is seen.
func TestCellsSampledAgainstExpected(t *testing.T) {
	task := digitsTask(t, 2)
	rows := func(x blas64.General, n int) blas64.General { x.Rows = n; return x }
	task.QuerySpace, task.QueryRanking = rows(task.QuerySpace, 100), rows(task.QueryRanking, 100)
	task.QueryLabels = task.QueryLabels[:100]
	for _, base := range []bool{false, true} {
		settings := CellsTableSettings{CellsSettings: server.CellsSettings{Epsilon: 2, Seed: 1}, WithBase: base}
		table := cellsTable(t, task, settings)
		// Fresh entropy: three standard errors are exceeded once in 370 runs,
		// five once in 1.7 million.
		sampled, err := task.Ask(t.Context(), settings, 2, 20)
		if err != nil {
			t.Fatal(err)
		}
		want := cellsAt(t, table, 2).Overlap
		z := (sampled.Overlap - want) / sampled.StandardError
		t.Logf("base %v: %.4f sampled, %.4f expected, z = %.2f", base, sampled.Overlap, want, z)
		if !(math.Abs(z) < 5) {
			t.Errorf("base %v: sampled %.4f +- %.4f, expected %.4f", base, sampled.Overlap, sampled.StandardError, want)
		}
		if other := cellsAt(t, table, 3).Overlap; math.Abs(sampled.Overlap-other)/sampled.StandardError < 5 {
			t.Errorf("base %v: the test does not see another epsilon", base)
		}
	}
}

// The base adds rows and never takes any away.
func TestCellsWithBase(t *testing.T) {
	task := digitsTask(t, 1)
	settings := CellsTableSettings{CellsSettings: server.CellsSettings{Epsilon: 1, Seed: 1}}
	plain := cellsTable(t, task, settings)
	settings.WithBase = true
	with := cellsTable(t, task, settings)
	for i, o := range plain.outcome {
		if w := with.outcome[i]; w.Overlap < o.Overlap || w.Download < o.Download || w.Download > o.Download+1./16 {
			t.Fatalf("outcome %d: %+v with, %+v without", i, w, o)
		}
	}
	a, b := cellsAt(t, plain, 1), cellsAt(t, with, 1)
	if b.First <= a.First+0.2 {
		t.Errorf("R@1 %.3f with the base, %.3f without", b.First, a.First)
	}
}

// Labels enter nothing but the figures, and workers change nothing.
func TestCellsLabelsStayOut(t *testing.T) {
	task := digitsTask(t, 3)
	settings := CellsTableSettings{CellsSettings: server.CellsSettings{Epsilon: 2, Seed: 1}}
	want := cellsTable(t, task, settings)
	other := *task
	other.QueryLabels = slices.Clone(task.QueryLabels)
	slices.Reverse(other.QueryLabels)
	set := par.New(3)
	defer set.Close()
	settings.Workers = set
	got := cellsTable(t, &other, settings)
	if !slices.Equal(got.own, want.own) || !slices.Equal(got.homes, want.homes) {
		t.Error("the cells depend on labels")
	}
	for i := range want.outcome {
		if got.outcome[i].Overlap != want.outcome[i].Overlap || got.outcome[i].Download != want.outcome[i].Download {
			t.Fatal("the answers depend on labels")
		}
	}
	if a, b := cellsAt(t, got, 4).Recall, cellsAt(t, want, 4).Recall; a > b-0.2 {
		t.Errorf("recall %.3f with the labels of others, %.3f with their own", a, b)
	}
}

func TestCellsTaskRefuses(t *testing.T) {
	good := digitsTask(t, 1)
	settings := CellsTableSettings{CellsSettings: server.CellsSettings{Epsilon: 1}}
	for name, change := range map[string]func(*CellsTask, *CellsTableSettings){
		"labels":        func(c *CellsTask, _ *CellsTableSettings) { c.QueryLabels = c.QueryLabels[1:] },
		"gallery":       func(c *CellsTask, _ *CellsTableSettings) { c.Ranking.Rows-- },
		"dimension":     func(c *CellsTask, _ *CellsTableSettings) { c.QueryRanking.Cols-- },
		"storage":       func(c *CellsTask, _ *CellsTableSettings) { c.Space.Data = nil },
		"ranking":       func(c *CellsTask, _ *CellsTableSettings) { c.Ranking.Data = nil },
		"no queries":    func(c *CellsTask, _ *CellsTableSettings) { c.QuerySpace.Rows = 0 },
		"k":             func(_ *CellsTask, s *CellsTableSettings) { s.K = 1001 },
		"negative k":    func(_ *CellsTask, s *CellsTableSettings) { s.K = -1 },
		"several cells": func(_ *CellsTask, s *CellsTableSettings) { s.Size = 2 },
	} {
		task, changed := *good, settings
		change(&task, &changed)
		if _, err := NewCellsTable(t.Context(), &task, changed); !errors.Is(err, ErrShape) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := good.Ask(t.Context(), settings, 1, 0); !errors.Is(err, ErrShape) {
		t.Errorf("no rounds: error %v", err)
	}
	if _, err := good.Ask(t.Context(), settings, 0, 1); !errors.Is(err, mechanism.ErrParam) {
		t.Errorf("no epsilon: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewCellsTable(ctx, good, settings); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
	if _, err := cellsTable(t, good, settings).At(-1); !errors.Is(err, mechanism.ErrParam) {
		t.Errorf("negative epsilon: error %v", err)
	}
}
