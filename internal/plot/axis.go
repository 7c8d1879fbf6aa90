package plot

import (
	"math"
	"slices"
	"strconv"
)

// An Axis is one of the two of a chart.
type Axis struct {
	Name string
	Log  bool // powers of ten are equally far apart
	// Low and High are the ends. Default: those of the points, with a margin.
	Low, High float64
	// Ticks are the numbers that stand at the axis. Default: round ones.
	Ticks []float64
	// Show writes a number. Default: with four digits.
	Show func(float64) string
}

func (a *Axis) show(v float64) string {
	if a.Show != nil {
		return a.Show(v)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// tick is a number at an axis.
type tick struct {
	at   float64
	text string
}

// ruler maps the numbers of an axis to places of the picture.
type ruler struct {
	log       bool
	low, high float64 // powers of ten where log
	from, to  float64
	ticks     []tick
}

// newRuler returns the ruler of an axis that has to show some numbers.
func newRuler(a *Axis, numbers []float64, from, to float64) *ruler {
	r := &ruler{log: a.Log, from: from, to: to}
	ends := []float64{a.Low, a.High}
	if a.Low == a.High {
		ends = numbers
	}
	r.low, r.high = math.Inf(1), math.Inf(-1)
	for _, v := range ends {
		if v = r.of(v); v-v == 0 {
			r.low, r.high = min(r.low, v), max(r.high, v)
		}
	}
	switch margin := (r.high - r.low) / 25; {
	case r.low > r.high:
		r.low, r.high = 0, 1
	case r.low == r.high:
		r.low, r.high = r.low-0.5, r.high+0.5
	case a.Low == a.High:
		r.low, r.high = r.low-margin, r.high+margin
	}
	switch {
	case a.Ticks != nil:
		for _, v := range a.Ticks {
			r.ticks = append(r.ticks, tick{v, a.show(v)})
		}
	case a.Log:
		r.ticks = logTicks(math.Pow(10, r.low), math.Pow(10, r.high))
	default:
		step := roundStep(r.high - r.low)
		for _, v := range multiples(r.low, r.high, step) {
			r.ticks = append(r.ticks, tick{v, tickText(v, step)})
		}
	}
	if a.Show != nil {
		for i, t := range r.ticks {
			r.ticks[i].text = a.Show(t.at)
		}
	}
	return r
}

// of returns what the places of a ruler are proportional to.
func (r *ruler) of(v float64) float64 {
	if r.log {
		return math.Log10(v)
	}
	return v
}

// at returns the place of a number, at an end for those beyond it.
func (r *ruler) at(v float64) float64 {
	part := (r.of(v) - r.low) / (r.high - r.low)
	return r.from + (r.to-r.from)*min(max(part, 0), 1)
}

// logTicks returns 1, 2 and 5 times the powers of ten, more over less than a power of ten,
// and over more than three powers the powers alone.
func logTicks(low, high float64) (out []tick) {
	if !(low > 0) || math.IsInf(high, 0) {
		return nil
	}
	digits := []float64{1, 2, 5}
	switch {
	case high/low > 1000:
		digits = digits[:1]
	case high/low < 10:
		digits = []float64{1, 1.5, 2, 3, 4, 5, 6, 8}
	}
	for power := math.Floor(math.Log10(low)); power <= math.Ceil(math.Log10(high)); power++ {
		for _, digit := range digits {
			value := digit * math.Pow(10, power)
			if value < low*(1-1e-9) || value > high*(1+1e-9) {
				continue
			}
			places := max(0, -int(power))
			if digit == 1.5 && power <= 0 {
				places++
			}
			out = append(out, tick{value, strconv.FormatFloat(value, 'f', places, 64)})
		}
	}
	return out
}

// Places returns the X of the points of series with marks, ascending: ticks of a chart where few
// values were measured.
func Places(series []Series) (xs []float64) {
	for _, one := range series {
		for _, p := range one.Points {
			if one.Look == Line || one.Look == Marks {
				xs = append(xs, p.X)
			}
		}
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}
