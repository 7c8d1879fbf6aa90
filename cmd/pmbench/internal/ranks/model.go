package ranks

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A Model is what verb model is asked for: which rows and ranks, and the rates of a rank.
type Model struct {
	Rows, Ranks      string // numbers with commas
	D, K, Cores      int
	Degree           float64
	Read, Madd, Link float64 // thousand millions a second: bytes, multiply-adds of a worker, bytes
	Latency          float64 // microseconds
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

// Run prints what the model says. No names are wanted.
func (f *Model) Run(_ context.Context, e *cli.Env, names []string) error {
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
func (f *Model) foresee() (out []*Foreseen, err error) {
	if f.D > 3 {
		return nil, cli.Usagef("-d %d: the model is of points in 1 to 3 dimensions", f.D)
	}
	for _, v := range []struct {
		flag  string
		value float64
	}{{"degree", f.Degree}, {"read", f.Read}, {"madd", f.Madd}, {"link", f.Link}, {"latency", f.Latency}} {
		if !(v.value > 0) || math.IsInf(v.value, 1) {
			return nil, cli.Usagef("-%s %g: want a number above 0", v.flag, v.value)
		}
	}
	ranks, err := rankNumbers(f.Ranks)
	if err != nil {
		return nil, err
	}
	for _, word := range strings.Split(f.Rows, ",") {
		n, err := strconv.ParseFloat(word, 64)
		if err != nil || !(n > f.Degree) || n > math.MaxUint32 {
			return nil, cli.Usagef("-n %q: want numbers of rows with commas, more than neighbours and less than 2^32", f.Rows)
		}
		for _, r := range ranks {
			out = append(out, f.line(n, r))
		}
	}
	return out, nil
}

// line is what the model says of a number of rows and ranks.
func (f *Model) line(n float64, ranks int) *Foreseen {
	of := func(ranks int) *scaleModel {
		return &scaleModel{n: n, d: f.D, k: f.K, degree: f.Degree, ranks: ranks,
			rankRates: rankRates{cores: f.Cores, read: f.Read * 1e9, madd: f.Madd * 1e9, link: f.Link * 1e9, latency: f.Latency * 1e-6}}
	}
	m, one := of(ranks), of(1)
	return &Foreseen{
		N: n, D: f.D, K: f.K, Ranks: ranks, MemoryBytes: m.memory(), GhostRows: m.ghosts(), HaloBytes: m.haloBytes(), GatherBytes: m.gatherBytes(),
		SumBytes: m.sumBytes(), Messages: m.messages(), StepBytes: m.stepBytes(), StepMadds: m.stepMadds(),
		StepSeconds: m.stepSeconds(), StepSpeedup: one.stepSeconds() / m.stepSeconds(),
		SearchSeconds: m.searchSeconds(), SearchSpeedup: one.searchSeconds() / m.searchSeconds(),
	}
}

func writeForeseen(w io.Writer, all []*Foreseen) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "n\tranks\tmemory\tstreamed\tmadds\tghosts\thalo\tAllgatherv\tsums\tmessages\tstep\tspeedup\tsearch\tspeedup\t")
	for _, v := range all {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%.2g\t%.2g\t%s\t%s\t%s\t%.0f\t%s\t%.3g\t%s\t%.3g\t\n", shortNumber(v.N), v.Ranks, figures.Decimal(v.MemoryBytes), figures.Decimal(v.StepBytes),
			v.StepMadds, v.GhostRows, figures.Decimal(v.HaloBytes), figures.Decimal(v.GatherBytes), figures.Decimal(v.SumBytes), v.Messages,
			figures.Duration(v.StepSeconds), v.StepSpeedup, figures.Duration(v.SearchSeconds), v.SearchSpeedup)
	}
	return t.Flush()
}

// shortNumber writes powers of ten as people do.
func shortNumber(n float64) string {
	return strings.Replace(strconv.FormatFloat(n, 'g', -1, 64), "e+0", "e", 1)
}
