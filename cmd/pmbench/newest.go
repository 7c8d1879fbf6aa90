package main

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
		offer(x.key(), candidate{x.file, x.EndedEarly, x.Time})
	}
	for _, x := range r.ratios {
		offer(x.key(), candidate{x.file, x.WantedRounds > 0, x.Time})
	}
	out := new(report)
	for _, x := range r.records {
		if best[x.key()].file == x.file {
			out.records = append(out.records, x)
		}
	}
	for _, x := range r.ratios {
		if best[x.key()].file == x.file {
			out.ratios = append(out.ratios, x)
		}
	}
	return out
}

// key tells the cases of run apart.
func (r *Record) key() string { return "run " + r.Suite + " " + r.Case }

// key tells the cases of peers apart.
func (r *Ratio) key() string { return "peers " + r.Suite + " " + r.Case + " " + r.Peer }

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
