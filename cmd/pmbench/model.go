package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

type modelFlags struct {
	rows, ranks                       string
	d, k, cores                       int
	degree, read, madd, link, latency float64
}

// A Foreseen is what the model says of a number of rows and ranks, the object of model -json.
// Bytes are those of one rank.
type Foreseen struct {
	N             float64 `json:"n"`
	D             int     `json:"d"`
	K             int     `json:"k"`
	Ranks         int     `json:"ranks"`
	MemoryBytes   float64 `json:"memory_bytes"`
	GhostRows     float64 `json:"ghost_rows"`
	HaloBytes     float64 `json:"halo_bytes"`
	GatherBytes   float64 `json:"allgatherv_bytes"`
	SumBytes      float64 `json:"sum_bytes"`
	Messages      float64 `json:"messages"`
	StepBytes     float64 `json:"step_bytes"`
	StepMadds     float64 `json:"step_madds"`
	StepSeconds   float64 `json:"step_seconds"`
	StepSpeedup   float64 `json:"step_speedup"`
	SearchSeconds float64 `json:"search_seconds"`
	SearchSpeedup float64 `json:"search_speedup"`
}

func (f *modelFlags) run(_ context.Context, e *cli.Env, names []string) error {
	if len(names) > 0 {
		return cli.Usagef("names are not wanted, got %q", names[0])
	}
	all, err := f.foresee()
	if err != nil {
		return err
	}
	if !e.JSON {
		return writeForeseen(e.Stdout, all)
	}
	for _, v := range all {
		if err := e.Object(v); err != nil {
			return err
		}
	}
	return nil
}

// foresee returns a line for each number of rows and ranks.
func (f *modelFlags) foresee() (out []*Foreseen, err error) {
	if f.d > 3 {
		return nil, cli.Usagef("-d %d: the model is of points in 1 to 3 dimensions", f.d)
	}
	for _, v := range []struct {
		flag  string
		value float64
	}{{"degree", f.degree}, {"read", f.read}, {"madd", f.madd}, {"link", f.link}, {"latency", f.latency}} {
		if !(v.value > 0) || math.IsInf(v.value, 1) {
			return nil, cli.Usagef("-%s %g: want a number above 0", v.flag, v.value)
		}
	}
	ranks, err := rankNumbers(f.ranks)
	if err != nil {
		return nil, err
	}
	for _, word := range strings.Split(f.rows, ",") {
		n, err := strconv.ParseFloat(word, 64)
		if err != nil || !(n > f.degree) || n > math.MaxUint32 {
			return nil, cli.Usagef("-n %q: want numbers of rows with commas, more than neighbours and less than 2^32", f.rows)
		}
		for _, r := range ranks {
			out = append(out, f.line(n, r))
		}
	}
	return out, nil
}

// line is what the model says of a number of rows and ranks.
func (f *modelFlags) line(n float64, ranks int) *Foreseen {
	of := func(ranks int) *scaleModel {
		return &scaleModel{n: n, d: f.d, k: f.k, degree: f.degree, ranks: ranks,
			rankRates: rankRates{cores: f.cores, read: f.read * 1e9, madd: f.madd * 1e9, link: f.link * 1e9, latency: f.latency * 1e-6}}
	}
	m, one := of(ranks), of(1)
	return &Foreseen{
		N: n, D: f.d, K: f.k, Ranks: ranks, MemoryBytes: m.memory(), GhostRows: m.ghosts(), HaloBytes: m.haloBytes(), GatherBytes: m.gatherBytes(),
		SumBytes: m.sumBytes(), Messages: m.messages(), StepBytes: m.stepBytes(), StepMadds: m.stepMadds(),
		StepSeconds: m.stepSeconds(), StepSpeedup: one.stepSeconds() / m.stepSeconds(),
		SearchSeconds: m.searchSeconds(), SearchSpeedup: one.searchSeconds() / m.searchSeconds(),
	}
}

func writeForeseen(w io.Writer, all []*Foreseen) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "n\tranks\tmemory\tstreamed\tmadds\tghosts\thalo\tAllgatherv\tsums\tmessages\tstep\tspeedup\tsearch\tspeedup\t")
	for _, v := range all {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%.2g\t%.2g\t%s\t%s\t%s\t%.0f\t%s\t%.3g\t%s\t%.3g\t\n", shortNumber(v.N), v.Ranks, decimal(v.MemoryBytes), decimal(v.StepBytes),
			v.StepMadds, v.GhostRows, decimal(v.HaloBytes), decimal(v.GatherBytes), decimal(v.SumBytes), v.Messages,
			duration(v.StepSeconds), v.StepSpeedup, duration(v.SearchSeconds), v.SearchSpeedup)
	}
	return t.Flush()
}

// shortNumber writes powers of ten as people do.
func shortNumber(n float64) string {
	return strings.Replace(strconv.FormatFloat(n, 'g', -1, 64), "e+0", "e", 1)
}
