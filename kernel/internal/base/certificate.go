package base

import (
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// An Kind says what an error bound is made of.
type Kind int

// The kinds of certificate; package kernel says what they mean.
const (
	Exact Kind = iota
	DroppedMass
	Replaced
	Relative
	Absolute
	AsAsked
)

// An Certificate bounds how far the weights of an operator are from the Gaussian weights.
// Package kernel says what its fields mean.
type Certificate struct {
	Kind           Kind
	EntryRel       float64
	EntryAbs       float64
	RowMax, RowP99 float64
	Rounding       float64
	Isolated       int
	Row            []float32
}

// Eta returns the bound of row i.
func (c Certificate) Eta(i int) float64 {
	if c.Row == nil {
		return c.RowMax
	}
	return float64(c.Row[i])
}

// SetRows fills in Row, RowMax and RowP99 from the bounds of all rows,
// rounding each up to float32.
func (c *Certificate) SetRows(eta []float64) {
	c.Row = make([]float32, len(eta))
	for i, e := range eta {
		c.Row[i] = rows.RoundUp(e)
	}
	c.RankRows()
}

// RankRows fills in RowMax and RowP99 from Row.
func (c *Certificate) RankRows() {
	c.RowMax, c.RowP99 = RowMax(c.Row), RowP99(c.Row)
}

// RowP99 returns the RowP99 of some rows.
func RowP99(v []float32) float64 {
	return float64(Ranked(v, int(int64(len(v)-1)*99/100)))
}

// RowMax returns the RowMax of some rows. Bounds are not negative, and such numbers are ordered as
// their bits are: comparing bits is faster.
func RowMax(v []float32) float64 {
	most := uint32(0)
	for _, e := range v {
		most = max(most, math.Float32bits(e))
	}
	return float64(math.Float32frombits(most))
}

// Ranked returns the number that would be at the given place if v, which has no
// negative numbers, were sorted. They are ordered as their bits are: counting the
// upper halves, and then the lower halves of those that agree in the upper,
// finds it.
func Ranked(v []float32, place int) float32 {
	counts := make([]uint32, 1<<16) // there are fewer rows than 2^32
	for _, e := range v {
		counts[math.Float32bits(e)>>16]++
	}
	find := func() (digit uint32) {
		for place >= int(counts[digit]) {
			place -= int(counts[digit])
			digit++
		}
		return digit
	}
	upper := find()
	clear(counts)
	for _, e := range v {
		if bits := math.Float32bits(e); bits>>16 == upper {
			counts[bits&0xffff]++
		}
	}
	return math.Float32frombits(upper<<16 | find())
}

// WorstConnected returns the largest eta_i of the rows that have a neighbour.
func (c Certificate) WorstConnected() float64 {
	if c.Row == nil {
		return c.RowMax
	}
	worst := 0.0
	for _, e := range c.Row {
		if !math.IsInf(float64(e), 1) {
			worst = max(worst, float64(e))
		}
	}
	return worst
}
