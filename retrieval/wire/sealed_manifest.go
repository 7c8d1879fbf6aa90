package wire

import (
	"cmp"
	"io"
	"math"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
)

// A SealedManifest is what a server publishes about an epoch of a sealed gallery before any
// query. Its hash names the epoch. The slots of the gallery have names: slot r of cell c is
// c*Length + r.
type SealedManifest struct {
	Rows      int     // occupied slots
	Cells     int     // m
	Length    int     // slots of a cell, L
	Dimension int     // of centres and rows, d
	Probes    int     // ciphertexts of a request, P
	Scale     float64 // S: a row x is stored as round(S R x), at most 127 in size; R is a public rotation
	Kappa     uint32  // a query z of unit length is encrypted as round(Kappa R z)
	// MaxNorm is the largest squared norm that a stored row of the epoch may have.
	MaxNorm int64
	// NormBase and NormUnit say what Norms mean: the squared norm of the stored row is
	// NormBase + NormUnit*Norms[name], to within NormUnit/2, and exactly where NormUnit is 1.
	NormBase int64
	NormUnit int64
	// Map is the SHA-256 of the published map, zero where there is none.
	Map     Hash
	Centres []float32 // Cells x Dimension, not rotated
	Norms   []int16   // by name; EmptySlot where there is no row
}

// Columns returns the number of words of a ciphertext.
func (m *SealedManifest) Columns() int { return m.Cells * m.Dimension }

// Slots returns the number of slots.
func (m *SealedManifest) Slots() int { return m.Cells * m.Length }

// Check returns nil, or an *Error for the first field that is wrong.
func (m *SealedManifest) Check() error {
	if err := cmp.Or(
		checkCount("rows", m.Rows, limits.MaxRows), checkCount("cells", m.Cells, limits.MaxCells), checkCount("length", m.Length, limits.MaxSlots),
		checkDimension(m.Dimension), checkCount("probes", m.Probes, min(m.Cells, limits.MaxCiphertexts)),
	); err != nil {
		return err
	}
	const mostNorm, mostScale = 127 * 127 * limits.MaxDimension, 1e100 // so that no distance overflows
	switch slots, columns := int64(m.Cells)*int64(m.Length), int64(m.Cells)*int64(m.Dimension); {
	case columns > limits.MaxSealedColumns:
		return refuse("cells", "%d of dimension %d, want at most %d columns", m.Cells, m.Dimension, limits.MaxSealedColumns)
	case slots > limits.MaxSlots || int64(m.Rows) > slots:
		return refuse("length", "%d slots for %d rows", slots, m.Rows)
	case 4*slots > mostSealed || 3*columns*int64(m.Probes) > mostSealed || 4*int64(m.Length)*int64(max(m.Probes, sealed.SecretWords)) > mostSealed:
		return refuse("length", "%d slots and %d columns for %d probes: an answer, a request or a hint is no message", slots, columns, m.Probes)
	case !(m.Scale >= 1/mostScale && m.Scale <= mostScale):
		return refuse("scale", "want %g to %g", 1/mostScale, mostScale)
	case m.Kappa < 1 || m.Kappa > math.MaxInt32:
		return refuse("kappa", "%d, want 1 to %d", m.Kappa, math.MaxInt32)
	case m.MaxNorm < 1 || m.MaxNorm > mostNorm:
		return refuse("max norm", "%d, want 1 to %d", m.MaxNorm, int64(mostNorm))
	case m.NormUnit < 1 || m.NormUnit > mostNorm:
		return refuse("norm unit", "%d, want 1 to %d", m.NormUnit, int64(mostNorm))
	case m.NormBase < 0 || m.NormBase > mostNorm:
		return refuse("norm base", "%d, want 0 to %d", m.NormBase, int64(mostNorm))
	}
	if err := cmp.Or(checkProduct("centres", len(m.Centres), m.Cells, m.Dimension), checkProduct("norms", len(m.Norms), m.Cells, m.Length)); err != nil {
		return err
	}
	if !allFinite(m.Centres) {
		return refuse("centres", "a number is not finite")
	}
	return m.checkNorms()
}

// checkNorms refuses norms that no row can have, and another number of them than Rows.
func (m *SealedManifest) checkNorms() error {
	rows := 0
	for _, v := range m.Norms {
		if v == EmptySlot {
			continue
		}
		rows++
		if !m.FitsNorm(v) {
			return refuse("norms", "one is outside of 0 to %d", m.MaxNorm)
		}
	}
	if rows != m.Rows {
		return refuse("norms", "%d slots have a row, and rows is %d", rows, m.Rows)
	}
	return nil
}

// FitsNorm reports whether a number can be that of a slot in Norms: that of a stored row of the
// epoch, or EmptySlot.
func (m *SealedManifest) FitsNorm(v int16) bool {
	norm := m.NormBase + m.NormUnit*int64(v)
	return v == EmptySlot || norm >= -m.NormUnit && norm <= m.MaxNorm+m.NormUnit
}

// Hash returns the SHA-256 that names the epoch, the one its binary form ends with, and the
// error of Check when there is one.
func (m *SealedManifest) Hash() (h Hash, err error) {
	return endOf(m)
}

func (m *SealedManifest) format() format {
	return format{kindSealedManifest, sealedVersion, newSHA256}
}

func (m *SealedManifest) fields() (int64, func(*encoder), error) {
	sizes := []int{m.Rows, m.Cells, m.Length, m.Dimension, m.Probes}
	size := int64(8*len(sizes)+5*8+len(m.Map)+2*8) + 4*int64(len(m.Centres)) + 2*int64(len(m.Norms))
	return size, func(e *encoder) {
		for _, v := range sizes {
			e.uint64(uint64(v))
		}
		e.uint64(math.Float64bits(m.Scale))
		e.uint64(uint64(m.Kappa))
		for _, v := range []int64{m.MaxNorm, m.NormBase, m.NormUnit} {
			e.uint64(uint64(v))
		}
		e.fixed(m.Map[:])
		encodeSlice(e, m.Centres)
		encodeSlice(e, m.Norms)
	}, nil
}

// MarshalBinary returns the binary form, and the error of Check when there is one.
func (m *SealedManifest) MarshalBinary() ([]byte, error) { return appendFrame(nil, m) }

// AppendBinary appends the binary form to b, which is returned as it was after an error of
// Check.
func (m *SealedManifest) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, m) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (m *SealedManifest) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, m) }

// UnmarshalBinary reads the binary form. When it fails, m stays as it was.
func (m *SealedManifest) UnmarshalBinary(frame []byte) error {
	d, err := open(m.format(), frame)
	if err != nil {
		return err
	}
	var out SealedManifest
	out.Rows = d.whole("rows", limits.MaxRows)
	out.Cells = d.whole("cells", limits.MaxCells)
	out.Length = d.whole("length", limits.MaxSlots)
	out.Dimension = d.whole("dimension", limits.MaxDimension)
	out.Probes = d.whole("probes", limits.MaxCiphertexts)
	out.Scale = math.Float64frombits(d.uint64("scale"))
	out.Kappa = uint32(d.whole("kappa", math.MaxInt32))
	out.MaxNorm = int64(d.uint64("max norm"))
	out.NormBase = int64(d.uint64("norm base"))
	out.NormUnit = int64(d.uint64("norm unit"))
	d.fixed("map", out.Map[:])
	out.Centres = decodeSlice[float32](d, "centres")
	out.Norms = decodeSlice[int16](d, "norms")
	return finish(d, m, &out, out.Check)
}
