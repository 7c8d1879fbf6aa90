package sensitivity

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// geometry is Q as the bounds see it: centred, and scaled by a power of two so
// that no square over- or underflows. The bounds do not change under a shift of
// all rows and are homogeneous in the scale, which exponent restores. All
// fields but exponent are of the scaled matrix.
//
// The centred entries are below 1 in size and off by at most placeError each.
// The numbers that the bounds are made of have that error added, so none is
// below the exact number by more than its own relative rounding, for every Q:
// also for rows that nearly agree and lie far from the others.
type geometry struct {
	rows, columns int
	exponent      int
	centred       []float64 // rows x columns
	distance      []float64 // |q_s - qbar|, from above
	frobenius     float64   // F, from above
	spectral      float64   // S from above, or F where the Gram matrix would be too large
	radius        float64   // largest distance
	gram          []float64 // columns x columns, of the centred rows; nil beyond maxRowGram
	digest        [sha256.Size]byte
}

// placeError bounds the error of a centred and scaled entry: half a unit for
// the difference from the first row, two for the mean, one for subtracting it.
const placeError = 0x1p-50

// maxGram is the largest order of a Gram matrix whose eigenvalues are computed
// once, maxRowGram of one whose eigenvalues are computed for each row.
const (
	maxGram    = 256
	maxRowGram = 64
)

// newGeometry checks Q and measures it. Rows are taken relative to the first
// one before they are centred: a difference of two floats has a small relative
// error whatever their size, so a large shift of all rows costs no digits.
func newGeometry(q blas64.General) (*geometry, error) {
	if err := checkMatrix("Q", q, 2); err != nil {
		return nil, err
	}
	n, k := q.Rows, q.Cols
	g := &geometry{rows: n, columns: k, centred: make([]float64, n*k), distance: make([]float64, n)}
	largest := 0.0
	for i := range n {
		for j := range k {
			d := q.Data[i*q.Stride+j] - q.Data[j]
			g.centred[i*k+j] = d
			largest = max(largest, math.Abs(d))
		}
	}
	if math.IsInf(largest, 0) {
		return nil, refuse(errUnrepresentable, "differences of the rows of Q overflow")
	}
	if largest == 0 {
		return nil, refuse(errDegenerate, "all rows of Q are equal")
	}
	_, g.exponent = math.Frexp(largest)
	first, second := g.factors()
	for i, v := range g.centred {
		g.centred[i] = v * first * second
	}
	centreColumns(g.centred, n, k)

	var total accumulator
	for i := range n {
		var d2 float64
		for _, v := range g.row(i) {
			d2 += v * v
		}
		g.distance[i] = math.Sqrt(d2) + g.errorOf(1)
		g.radius = max(g.radius, g.distance[i])
		total.add(d2)
	}
	g.frobenius = math.Sqrt(total.sum()) + g.errorOf(n)
	g.spectral = g.frobenius
	g.digest = digestOf(q)
	if k <= maxRowGram {
		g.gram = gramOf(g.centred, n, k)
	}
	if k > 1 {
		s, err := spectralNorm(g.centred, n, k, g.gram)
		if err != nil {
			return nil, err
		}
		g.spectral = min(g.spectral, s+g.errorOf(n))
	}
	return g, nil
}

// factors returns two numbers whose product is 2^-exponent, which itself may overflow. A
// number multiplied by one and then the other is in the units of the geometry.
func (g *geometry) factors() (first, second float64) {
	half := -g.exponent / 2
	return math.Ldexp(1, half), math.Ldexp(1, -g.exponent-half)
}

// scaled returns v in the units of the geometry.
func (g *geometry) scaled(v float64) float64 {
	first, second := g.factors()
	return v * first * second
}

// errorOf bounds the norm of the errors of that many rows.
func (g *geometry) errorOf(rows int) float64 {
	return placeError * math.Sqrt(float64(rows)*float64(g.columns))
}

// digestOf distinguishes matrices by their size and all their entries.
func digestOf(q blas64.General) (sum [sha256.Size]byte) {
	h := sha256.New()
	buffer := binary.LittleEndian.AppendUint64(nil, uint64(q.Rows))
	buffer = binary.LittleEndian.AppendUint64(buffer, uint64(q.Cols))
	for i := range q.Rows {
		for _, v := range q.Data[i*q.Stride:][:q.Cols] {
			buffer = binary.LittleEndian.AppendUint64(buffer, math.Float64bits(v))
			if len(buffer) >= 4096 {
				h.Write(buffer)
				buffer = buffer[:0]
			}
		}
	}
	h.Write(buffer)
	h.Sum(sum[:0])
	return sum
}

// centreColumns subtracts the column means of the n x k matrix m and returns
// them.
func centreColumns(m []float64, n, k int) []float64 {
	means := make([]float64, k)
	for j := range k {
		var total accumulator
		for i := range n {
			total.add(m[i*k+j])
		}
		means[j] = total.sum() / float64(n)
		for i := range n {
			m[i*k+j] -= means[j]
		}
	}
	return means
}

func (g *geometry) row(i int) []float64 { return g.centred[i*g.columns:][:g.columns] }

// zFrobenius returns |Z_s|_F, the norm of the rows q_j - q_s.
func (g *geometry) zFrobenius(s int) float64 {
	return math.Hypot(g.frobenius, math.Sqrt(float64(g.rows))*g.distance[s])
}

// zSpectral returns |Z_s|_2, or an upper bound of it for many columns:
// Z_s^T Z_s = Qc^T Qc + N (q_s - qbar)(q_s - qbar)^T.
func (g *geometry) zSpectral(s int) float64 {
	k, n := g.columns, float64(g.rows)
	q := g.row(s)
	switch {
	case k == 1:
		return g.zFrobenius(s)
	case k == 2:
		a, b, c := g.gram[0]+n*q[0]*q[0], g.gram[1]+n*q[0]*q[1], g.gram[3]+n*q[1]*q[1]
		return math.Sqrt((a+c)/2+math.Hypot((a-c)/2, b)) + 2*g.errorOf(g.rows)
	case k <= maxRowGram:
		m := mat.NewSymDense(k, nil)
		for i := range k {
			for j := i; j < k; j++ {
				m.SetSym(i, j, g.gram[i*k+j]+n*q[i]*q[j])
			}
		}
		if top, err := largestEigenvalue(m); err == nil {
			return math.Sqrt(top) + 2*g.errorOf(g.rows)
		}
	}
	return min(g.zFrobenius(s), math.Hypot(g.spectral, math.Sqrt(n)*g.distance[s]))
}

// spectralNorm returns the largest singular value of the n x k matrix m, from the
// smaller of its Gram matrices, or the Frobenius norm where both are large. known is the
// Gram matrix of the columns, or nil.
func spectralNorm(m []float64, n, k int, known []float64) (float64, error) {
	if n == 0 || k == 0 {
		return 0, nil
	}
	if min(n, k) > maxGram || min(n, k) == 1 {
		return frobeniusOf(m), nil
	}
	order, gram := k, known
	switch {
	case n < k:
		order = n
		gram = make([]float64, n*n)
		blas64.Syrk(blas.NoTrans, 1, blas64.General{Rows: n, Cols: k, Stride: k, Data: m}, 0,
			blas64.Symmetric{N: n, Stride: n, Data: gram, Uplo: blas.Upper})
	case gram == nil:
		gram = gramOf(m, n, k)
	}
	if order == 2 {
		return math.Sqrt((gram[0]+gram[3])/2 + math.Hypot((gram[0]-gram[3])/2, gram[1])), nil
	}
	top, err := largestEigenvalue(mat.NewSymDense(order, gram))
	return math.Sqrt(top), err
}

// frobeniusOf returns the Frobenius norm of a matrix.
func frobeniusOf(m []float64) float64 {
	var total accumulator
	for _, v := range m {
		total.add(v * v)
	}
	return math.Sqrt(total.sum())
}

// gramOf returns the upper triangle of m^T m, summed in pieces of rows so that
// the error does not grow with their number.
func gramOf(m []float64, n, k int) []float64 {
	total, part := make([]float64, k*k), make([]float64, k*k)
	const pieceRows = 1024
	for lo := 0; lo < n; lo += pieceRows {
		rows := min(pieceRows, n-lo)
		blas64.Syrk(blas.Trans, 1, blas64.General{Rows: rows, Cols: k, Stride: k, Data: m[lo*k : (lo+rows)*k]}, 0,
			blas64.Symmetric{N: k, Stride: k, Data: part, Uplo: blas.Upper})
		for i, v := range part {
			total[i] += v
		}
	}
	return total
}

func largestEigenvalue(m *mat.SymDense) (float64, error) {
	var e mat.EigenSym
	if !e.Factorize(m, false) {
		return 0, refuse(errUnrepresentable, "the eigenvalues of a Gram matrix do not converge")
	}
	values := e.Values(nil)
	return max(0, values[len(values)-1]), nil
}

// accumulator is a sum with compensation (Neumaier 1974): the error does not
// grow with the number of terms.
type accumulator struct{ s, c float64 }

func (a *accumulator) add(v float64) {
	t := a.s + v
	if math.Abs(a.s) >= math.Abs(v) {
		a.c += (a.s - t) + v
	} else {
		a.c += (v - t) + a.s
	}
	a.s = t
}

func (a *accumulator) sum() float64 { return a.s + a.c }
