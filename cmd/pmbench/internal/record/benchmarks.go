package record

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
)

// benchmarkName is the record's name in the Go benchmark format. The level is
// a line of the file and no part of the name, so that levels compare.
func (r *Record) benchmarkName() string {
	return "Benchmark" + strings.ToUpper(r.Suite[:1]) + r.Suite[1:] + "/" + r.Case
}

// The units of the yardstick in the Go benchmark format.
const (
	YardsUnit     = "yards/op"
	YardUnit      = "yard-sec"
	LeastYardUnit = "least-yard-sec"
	CPUYardsUnit  = "cpu-yards/op"
	CPUYardUnit   = "cpu-yard-sec"
	CPUUnit       = "cpu-sec/op"
)

// WriteBenchmarks writes records in the Go benchmark format.
func WriteBenchmarks(w io.Writer, m *Machine, records []*Record) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "goos: %s\ngoarch: %s\npkg: github.com/seed-64e14a55/privatemail/cmd/pmbench\n", runtime.GOOS, runtime.GOARCH)
	for _, line := range m.lines() {
		fmt.Fprintln(b, line)
	}
	if slices.ContainsFunc(records, func(r *Record) bool { return r.EndedEarly }) {
		fmt.Fprintln(b, "ended: early")
	}
	fmt.Fprintf(b, "Unit yards/op better=lower\nUnit peak-B better=lower\nUnit cpu-sec/op better=lower\nUnit cpu-yards/op better=lower\nUnit p99-sec better=lower\nUnit heap-B/op better=lower\nUnit Gnnz/s better=higher\nUnit Gpairs/s better=higher\nUnit %%roof better=higher\n\n")
	for _, r := range records {
		fmt.Fprintf(b, "%s-%d %d %s ns/op", r.benchmarkName(), runtime.GOMAXPROCS(0), r.Iterations, figures.Number(r.Seconds*1e9))
		if r.Bytes > 0 {
			fmt.Fprintf(b, " %s MB/s", figures.Number(float64(r.Bytes)/r.Seconds/1e6))
		}
		for _, v := range []struct {
			value *float64
			scale float64
			unit  string
		}{
			{r.YardsPerOp, 1, YardsUnit}, {r.YardSeconds, 1, YardUnit}, {r.LeastYardSeconds, 1, LeastYardUnit},
			{r.CPUSeconds, 1, CPUUnit}, {r.CPUYardsPerOp, 1, CPUYardsUnit}, {r.CPUYardSeconds, 1, CPUYardUnit}, {r.GnnzPerS, 1, "Gnnz/s"}, {r.PairsPerS, 1e-9, "Gpairs/s"}, {r.RoofFraction, 100, "%roof"},
			{r.Eta, 1, "eta"}, {r.SecondsP99, 1, "p99-sec"}, {r.HeapBytes, 1, "heap-B/op"}, {r.Instructions, 1, "instructions/op"},
		} {
			if v.value != nil {
				fmt.Fprintf(b, " %s %s", figures.Number(*v.value*v.scale), v.unit)
			}
		}
		if r.PeakBytes > 0 {
			fmt.Fprintf(b, " %d peak-B", r.PeakBytes)
		}
		fmt.Fprintln(b)
	}
	return b.Flush()
}
