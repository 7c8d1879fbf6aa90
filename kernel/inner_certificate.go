package kernel

import (
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// An innerKind says what an error bound is made of.
type innerKind int

// The kinds of certificate; package kernel says what they mean.
const (
	innerExact innerKind = iota
	innerDroppedMass
	innerReplaced
	innerRelative
	innerAbsolute
	innerAsAsked
)

// An innerCertificate bounds how far the weights of an operator are from the Gaussian weights.
// Package kernel says what its fields mean.
type innerCertificate struct {
	Kind           innerKind
	EntryRel       float64
	EntryAbs       float64
	RowMax, RowP99 float64
	Rounding       float64
	Isolated       int
	Row            []float32
}

// Eta returns the bound of row i.
func (c innerCertificate) Eta(i int) float64 {
	if c.Row == nil {
		return c.RowMax
	}
	return float64(c.Row[i])
}

// setRows fills in Row, RowMax and RowP99 from the bounds of all rows,
// rounding each up to float32.
func (c *innerCertificate) setRows(eta []float64) {
	c.Row = make([]float32, len(eta))
	for i, e := range eta {
		c.Row[i] = rows.RoundUp(e)
	}
	c.rankRows()
}

// rankRows fills in RowMax and RowP99 from Row.
func (c *innerCertificate) rankRows() {
	c.RowMax, c.RowP99 = rowMax(c.Row), rowP99(c.Row)
}

// rowP99 returns the RowP99 of some rows.
func rowP99(v []float32) float64 {
	return float64(ranked(v, int(int64(len(v)-1)*99/100)))
}

// rowMax returns the RowMax of some rows. Bounds are not negative, and such numbers are ordered as
// their bits are: comparing bits is faster.
func rowMax(v []float32) float64 {
	most := uint32(0)
	for _, e := range v {
		most = max(most, math.Float32bits(e))
	}
	return float64(math.Float32frombits(most))
}

// ranked returns the number that would be at the given place if v, which has no
// negative numbers, were sorted. They are ordered as their bits are: counting the
// upper halves, and then the lower halves of those that agree in the upper,
// finds it.
func ranked(v []float32, place int) float32 {
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

// worstConnected returns the largest eta_i of the rows that have a neighbour.
func (c innerCertificate) worstConnected() float64 {
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
