package main

// summary is what several measurements of a case come to.
type summary struct {
	*Record           // the first, with medians in the fields that vary
	Rounds    int     // how many there were
	Low, High float64 // quartiles of seconds
}

// summarise groups records by case, in order of appearance.
func summarise(records []*Record) []summary {
	var order []string
	groups := map[string][]*Record{}
	for _, r := range records {
		key := r.Suite + " " + r.Case + " " + settingOf(r.Level, r.Machine)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], r)
	}
	out := make([]summary, 0, len(order))
	for _, key := range order {
		group := groups[key]
		collect := func(f func(*Record) *float64) []float64 {
			var v []float64
			for _, r := range group {
				if p := f(r); p != nil {
					v = append(v, *p)
				}
			}
			return v
		}
		one := *group[0]
		seconds := collect(func(r *Record) *float64 { return &r.Seconds })
		s := summary{Record: &one, Rounds: len(group), Low: quantile(seconds, 0.25), High: quantile(seconds, 0.75)}
		scale := one.Seconds / median(seconds) // rates follow from the seconds
		one.Seconds = median(seconds)
		for _, p := range []**float64{&one.GnnzPerS, &one.PairsPerS, &one.MaddPerS} {
			if *p != nil {
				*p = finite(**p * scale)
			}
		}
		one.NsPerPoint /= scale
		if one.NsPerNNZ != nil {
			one.NsPerNNZ = finite(*one.NsPerNNZ / scale)
		}
		one.SecondsP99 = finite(median(collect(func(r *Record) *float64 { return r.SecondsP99 })))
		one.HeapBytes = finite(median(collect(func(r *Record) *float64 { return r.HeapBytes })))
		one.RoofFraction = finite(median(collect(func(r *Record) *float64 { return r.RoofFraction })))
		one.PeakBytes = int64(median(collect(func(r *Record) *float64 { return finite(float64(r.PeakBytes)) })))
		one.PeakPerNNZ = finite(median(collect(func(r *Record) *float64 { return r.PeakPerNNZ })))
		out = append(out, s)
	}
	return out
}
