package compare

import (
	"slices"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// readingsOf are the units with the readings of the yardstick for a metric: those of a
// measurement, and those the least of which they are held against.
var readingsOf = map[string]struct{ reading, least string }{
	record.YardsUnit: {record.YardUnit, record.LeastYardUnit}, record.CPUYardsUnit: {record.CPUYardUnit, record.CPUYardUnit},
}

// chosen returns the measurements to compare: the calm ones where both recordings have enough.
// Where they have not it sets Drift. Without a yardstick all are compared.
func (c *comparison) chosen(old, now map[string][]float64) (o, n []float64) {
	o, n = old[c.Metric], now[c.Metric]
	of, ok := readingsOf[c.Metric]
	if !ok || len(old[of.reading]) != len(o) || len(now[of.reading]) != len(n) || len(old[of.least])*len(now[of.least]) == 0 {
		return o, n
	}
	before, after := old[of.reading], now[of.reading]
	limit := measure.CalmLimit * min(slices.Min(old[of.least]), slices.Min(now[of.least]))
	c.OldCalm, c.NewCalm = len(calmOnly(o, before, limit)), len(calmOnly(n, after, limit))
	if c.isProcessorTime() {
		// The ten calmest and those as calm, on both sides. Others that share a core or its
		// caches make a reading slower, and the operation more or less so.
		limit = max(limit, slices.Sorted(slices.Values(before))[MinRuns-1], slices.Sorted(slices.Values(after))[MinRuns-1])
		if c.OldCalm+c.NewCalm < len(o)+len(n) {
			c.Drift = max(measure.CalmLimit, shift(calmOnly(before, before, limit), calmOnly(after, after, limit))) - 1
		}
	} else if c.OldCalm < MinRuns || c.NewCalm < MinRuns {
		c.Drift = spread(slices.Concat(before, after)) - 1
		return o, n
	}
	if oldCalm, newCalm := calmOnly(o, before, limit), calmOnly(n, after, limit); len(oldCalm) >= MinRuns && len(newCalm) >= MinRuns {
		return oldCalm, newCalm
	}
	return o, n // readings that are not numbers
}

// calmOnly returns the values whose readings of the yardstick are within the limit.
func calmOnly(values, readings []float64, limit float64) (out []float64) {
	for i, v := range values {
		if readings[i] <= limit {
			out = append(out, v)
		}
	}
	return out
}

// spread is the ninth decile of readings over the first.
func spread(readings []float64) float64 {
	return figures.Quantile(readings, 0.9) / figures.Quantile(readings, 0.1)
}

// shift is the larger of two medians over the other.
func shift(a, b []float64) float64 {
	x, y := figures.Median(a), figures.Median(b)
	return max(x, y) / min(x, y)
}
