package service

import (
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// bounds are the upper ends of the buckets of a histogram in seconds: five in a power of
// ten, from a tenth of a millisecond to 100 seconds.
var bounds = func() (b []float64) {
	for i := range 31 {
		v, _ := strconv.ParseFloat(strconv.FormatFloat(1e-4*math.Pow(10, float64(i)/5), 'g', 3, 64), 64)
		b = append(b, v)
	}
	return b
}()

// A histogram counts times.
type histogram struct {
	buckets     [32]atomic.Int64 // one a bound, and one for what is above
	nanoseconds atomic.Int64
}

func (h *histogram) add(d time.Duration) {
	i, _ := slices.BinarySearch(bounds, d.Seconds())
	h.buckets[i].Add(1)
	h.nanoseconds.Add(int64(d))
}

// snapshot returns the counts of the buckets and their sum.
func (h *histogram) snapshot() (counts [32]int64, all int64) {
	for i := range h.buckets {
		counts[i] = h.buckets[i].Load()
		all += counts[i]
	}
	return counts, all
}

// quantile returns the time below which a share of all times is, in seconds, as far as
// buckets tell, and 0 when there are none. Above the last bound it is that bound.
func (h *histogram) quantile(share float64) float64 {
	counts, all := h.snapshot()
	if all == 0 {
		return 0
	}
	want := share * float64(all)
	below := 0.0
	for i, n := range counts {
		if below+float64(n) < want || n == 0 {
			below += float64(n)
			continue
		}
		if i == len(bounds) {
			break
		}
		low := 0.0
		if i > 0 {
			low = bounds[i-1]
		}
		return low + (bounds[i]-low)*(want-below)/float64(n)
	}
	return bounds[len(bounds)-1]
}

// write writes the histogram in the text format of Prometheus.
func (h *histogram) write(s series, name, labels string) {
	counts, all := h.snapshot()
	sum := int64(0)
	for i, bound := range bounds {
		sum += counts[i]
		s.value(name+"_bucket", labels+","+label("le", strconv.FormatFloat(bound, 'g', -1, 64)), float64(sum))
	}
	s.value(name+"_bucket", labels+","+label("le", "+Inf"), float64(all))
	s.value(name+"_sum", labels, float64(h.nanoseconds.Load())/1e9)
	s.value(name+"_count", labels, float64(all))
}
