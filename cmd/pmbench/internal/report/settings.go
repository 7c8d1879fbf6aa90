package report

import (
	"cmp"
	"slices"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// nativeSetting stands for what the program takes by itself.
const nativeSetting = "native"

// settingReport is what was measured at one setting.
type settingReport struct {
	name string
	*report
}

// bySetting splits the figures of a family by the setting they were made with, and takes
// the newest recording of each case. First is what was measured as users run it, without
// PM_SIMD, if anything was.
func (r *report) bySetting() (out []settingReport) {
	native := map[string]bool{}
	for _, m := range r.machines() {
		if m != nil && m.Asked == "" {
			native[m.Setting()] = true
		}
	}
	parts, names := r.split(func(m *record.Machine) string {
		if m == nil || native[m.Setting()] {
			return nativeSetting
		}
		return m.Setting()
	})
	for i, name := range names {
		out = append(out, settingReport{name, parts[i].newest()})
	}
	slices.SortFunc(out, func(a, b settingReport) int {
		if (a.name == nativeSetting) != (b.name == nativeSetting) {
			return map[bool]int{true: -1, false: 1}[a.name == nativeSetting]
		}
		return cmp.Compare(a.name, b.name)
	})
	return out
}

// machines returns the machine of every figure, nil for those without one.
func (r *report) machines() (out []*record.Machine) {
	for _, x := range r.records {
		out = append(out, x.Machine)
	}
	for _, x := range r.ratios {
		out = append(out, x.Machine)
	}
	return out
}

// newest returns of each case what its newest recording has. A recording that ended early
// counts only where the case has no other.
func (r *report) newest() *report {
	best := map[string]candidate{}
	offer := func(key string, c candidate) {
		if b, ok := best[key]; !ok || c.before(b) {
			best[key] = c
		}
	}
	for _, x := range r.records {
		offer(recordKey(x), candidate{x.File, x.EndedEarly, x.Time})
	}
	for _, x := range r.ratios {
		offer(ratioKey(x), candidate{x.File, x.WantedRounds > 0, x.Time})
	}
	out := new(report)
	for _, x := range r.records {
		if best[recordKey(x)].file == x.File {
			out.records = append(out.records, x)
		}
	}
	for _, x := range r.ratios {
		if best[ratioKey(x)].file == x.File {
			out.ratios = append(out.ratios, x)
		}
	}
	return out
}

// recordKey distinguishes the cases of run.
func recordKey(r *record.Record) string { return "run " + r.Suite + " " + r.Case }

// ratioKey distinguishes the cases of peers.
func ratioKey(r *record.Ratio) string { return "peers " + r.Suite + " " + r.Case + " " + r.Peer }

// A candidate is a recording that has a case.
type candidate struct {
	file  int
	early bool // ended early
	time  string
}

// before reports whether c is to be taken and not b.
func (c candidate) before(b candidate) bool {
	if c.early != b.early {
		return b.early
	}
	return c.time > b.time // RFC 3339 in UTC
}
