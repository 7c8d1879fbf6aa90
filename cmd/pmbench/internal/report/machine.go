package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// machineSection is the table of the machines of a family.
func (r *report) machineSection() section {
	s := section{title: "Machine", head: []string{"what", "value"}}
	s.rows = append(s.rows, []string{"commit", strings.Join(r.commits(), ", ")})
	var order []string
	same := map[string][]*record.Machine{}
	for _, m := range r.machines() {
		if m == nil {
			continue
		}
		name := fmt.Sprintf("%s, %d cores, %s/%s, %s", m.ProcessorWords(), m.Cores, m.GOOS, m.GOARCH, m.Go)
		if same[name] == nil {
			order = append(order, name)
		}
		same[name] = append(same[name], m)
	}
	for _, name := range order {
		s.rows = append(s.rows, machineRows(name, same[name])...)
	}
	return s
}

// commits returns what the programs were built from.
func (r *report) commits() (out []string) {
	add := func(commit string) {
		if !slices.Contains(out, commit) {
			out = append(out, commit)
		}
	}
	for _, x := range r.records {
		add(x.Commit)
	}
	for _, x := range r.ratios {
		add(x.Commit)
	}
	return out
}

// machineRows are the lines about one machine, from all its recordings.
func machineRows(name string, all []*record.Machine) [][]string {
	var levels []string
	for _, m := range all {
		if level := m.SettingWords(); !slices.Contains(levels, level) {
			levels = append(levels, level)
		}
	}
	m := all[0]
	rows := [][]string{
		{"processor", name + ", level " + strings.Join(levels, ", ")},
		{"caches", fmt.Sprintf("%d KiB, %d KiB, %d KiB", m.L1>>10, m.L2>>10, m.L3>>10)},
		{"memory", fmt.Sprintf("%d GiB, huge pages %s", m.Memory>>30, m.HugePages)},
		{"counters", m.Counters},
	}
	for at, workers := range []string{"1 worker", "all workers"} {
		reads, gathers, madds := []float64{}, []float64{}, []float64{}
		for _, x := range all {
			if l := &x.Limits; l.Read[at] > 0 {
				reads, gathers, madds = append(reads, l.Read[at]), append(gathers, l.Gather[at]), append(madds, l.Madd[at])
			}
		}
		if len(reads) > 0 {
			rows = append(rows, []string{"limits, " + workers, fmt.Sprintf("read %.1f GB/s, gather %.0f million rows of 64 bytes/s, %.2f G scalar multiply-adds/s (medians over the runs; fractions are of the run's own)",
				figures.Median(reads)/1e9, figures.Median(gathers)/1e6, figures.Median(madds)/1e9)})
		}
	}
	return rows
}
