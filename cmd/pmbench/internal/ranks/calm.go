package ranks

import (
	"cmp"
	"slices"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// A calmness says which measurements of a group are not disturbed: the host of a virtual machine
// has taken at most a share of the time of its processors, and readings of the yardstick around
// them are near the least that there was with that many ranks, in any process.
type calmness struct {
	stolen float64         // the largest share; from 1 on everything is calm
	least  map[int]float64 // by number of ranks
}

// newCalmness lets the host take that many percent.
func newCalmness(percent float64) *calmness { return &calmness{percent / 100, map[int]float64{}} }

// see takes note of the readings around measurements.
func (c *calmness) see(records []*record.Record) {
	for _, r := range records {
		if r.LeastYardSeconds == nil {
			continue
		}
		least, ok := c.least[r.Ranks.Ranks]
		if !ok || *r.LeastYardSeconds < least {
			c.least[r.Ranks.Ranks] = *r.LeastYardSeconds
		}
	}
}

// disturbance is 0 for a calm measurement, and grows with what others took.
func (c *calmness) disturbance(r *record.Record) float64 {
	if c.stolen >= 1 {
		return 0
	}
	out := 0.0
	if r.Stolen != nil {
		out = max(out, *r.Stolen-c.stolen)
	}
	if r.YardSeconds != nil {
		if least := c.least[r.Ranks.Ranks]; least > 0 {
			out = max(out, *r.YardSeconds/least-measure.CalmLimit)
		}
	}
	return out
}

// medians returns of each case the record whose time is the median of the calm ones, without the
// last one where their number is even. Where no measurement is calm it is the least disturbed. Cases are in
// the order in which they come first.
func (c *calmness) medians(records []*record.Record) (out []*record.Record) {
	byCase := map[string][]*record.Record{}
	var names []string
	for _, r := range records {
		if byCase[r.Case] == nil {
			names = append(names, r.Case)
		}
		byCase[r.Case] = append(byCase[r.Case], r)
	}
	for _, name := range names {
		own := byCase[name]
		slices.SortStableFunc(own, func(a, b *record.Record) int { return cmp.Compare(c.disturbance(a), c.disturbance(b)) })
		calm := 0
		for calm < len(own) && c.disturbance(own[calm]) == 0 {
			calm++
		}
		calm = max(calm-1, 0) | 1 // of an even number one less
		slices.SortStableFunc(own[:calm], func(a, b *record.Record) int { return cmp.Compare(a.Seconds, b.Seconds) })
		out = append(out, own[calm/2])
	}
	return out
}

// worst is the largest disturbance of what counts of a round.
func (c *calmness) worst(r rankRound) (out float64) {
	for _, record := range c.medians(r) {
		out = max(out, c.disturbance(record))
	}
	return out
}

// count returns how many rounds are calm.
func (c *calmness) count(rounds []rankRound) (n int) {
	for _, r := range rounds {
		if c.worst(r) == 0 {
			n++
		}
	}
	return n
}

// choose returns as many rounds as wanted, in their order: those that are least disturbed. Of calm
// rounds the first are chosen, whatever they have measured.
func (c *calmness) choose(rounds []rankRound, wanted int) (out []rankRound) {
	order := make([]int, len(rounds))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.worst(rounds[a]), c.worst(rounds[b])) })
	order = order[:min(len(order), wanted)]
	slices.Sort(order)
	for _, i := range order {
		out = append(out, rounds[i])
	}
	return out
}
