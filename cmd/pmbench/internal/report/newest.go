package report

import "github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"

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

// recordKey tells the cases of run apart.
func recordKey(r *record.Record) string { return "run " + r.Suite + " " + r.Case }

// ratioKey tells the cases of peers apart.
func ratioKey(r *record.Ratio) string { return "peers " + r.Suite + " " + r.Case + " " + r.Peer }

// A candidate is a recording that has a case.
type candidate struct {
	file  int
	early bool // ended early
	time  string
}

// before tells whether c is to be taken and not b.
func (c candidate) before(b candidate) bool {
	if c.early != b.early {
		return b.early
	}
	return c.time > b.time // RFC 3339 in UTC
}
