package rotation

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The rotation keeps lengths and angles: its matrix times its transpose is the identity.
func TestRotationIsOrthogonal(t *testing.T) {
	for _, d := range []int{1, 2, 3, 5, 8, 33, 64, 65, 100} {
		columns := make([][]float64, d)
		for j := range columns {
			columns[j] = make([]float64, d)
			columns[j][j] = 1
			Row(columns[j], columns[j])
		}
		for i, a := range columns {
			for j, b := range columns {
				want, got := 0., 0.
				if i == j {
					want = 1
				}
				for k := range a {
					got += a[k] * b[k]
				}
				if math.Abs(got-want) > 1e-14 {
					t.Fatalf("dimension %d: columns %d and %d: %g, want %g", d, i, j, got, want)
				}
			}
		}
	}
}

// No entry of a rotated unit vector is large: that is what the rotation is for.
func TestRotationSpreads(t *testing.T) {
	for _, d := range []int{64, 100, 256, 1000} {
		row := make([]float64, d)
		for j := range d {
			clear(row)
			row[j] = 1
			Row(row, row)
			for _, v := range row {
				if math.Abs(v) > 5/math.Sqrt(float64(d)) {
					t.Fatalf("dimension %d: an entry of the rotated unit vector %d is %g", d, j, v)
				}
			}
		}
	}
}

// rotatePlain is Row with the matrix written out: entry (i, j) of the transform has the
// sign of the number of ones that i and j share.
func rotatePlain(row []float64, signs func(pass, j int) float64) []float64 {
	v := slices.Clone(row)
	p := 1
	for 2*p <= len(v) {
		p *= 2
	}
	for pass := range 2 {
		for j := range v {
			v[j] *= signs(pass, j)
		}
		lo := pass * (len(v) - p)
		part := slices.Clone(v[lo : lo+p])
		for i := range p {
			sum := 0.
			for j, x := range part {
				shared := 0
				for b := i & j; b > 0; b &= b - 1 {
					shared++
				}
				sum += x * float64(1-2*(shared%2))
			}
			v[lo+i] = sum / math.Sqrt(float64(p))
		}
	}
	return v
}

func TestRotationIsPlain(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	for _, d := range []int{1, 2, 3, 7, 16, 63, 64, 65, 130} {
		row, got := make([]float64, d), make([]float64, d)
		for j := range row {
			row[j] = random.NormFloat64()
		}
		// The words of SplitMix64, one for each 64 signs, by its definition.
		var words []uint64
		for i := range 2 * ((d + 63) / 64) {
			z := signs + uint64(i+1)*0x9e3779b97f4a7c15
			z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			words = append(words, z^z>>31)
		}
		want := rotatePlain(row, func(pass, j int) float64 {
			return 1 - 2*float64(words[pass*((d+63)/64)+j/64]>>(j%64)&1)
		})
		Row(got, row)
		for j := range got {
			if math.Abs(got[j]-want[j]) > 1e-13 {
				t.Fatalf("dimension %d, entry %d: %g, want %g", d, j, got[j], want[j])
			}
		}
	}
	Row(nil, nil)
}

// The bits are the same on every machine: here is their hash.
func TestRotationBits(t *testing.T) {
	hash := sha256.New()
	for d := 1; d <= 200; d++ {
		row := make([]float64, d)
		for j := range row {
			row[j] = 1 / float64(j+3)
		}
		Row(row, row)
		for _, v := range row {
			hash.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	const want = "0c4264db7d3b25d8a6f569526e8a73b5abb216d3eafca2032a1620d00c6263db"
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}
