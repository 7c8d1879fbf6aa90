package formats

import (
	"fmt"
	"testing"
)

// BenchmarkDecode measures the conversion of one buffer for each kind that a float32 matrix may
// come from.
func BenchmarkDecode(b *testing.B) {
	dst := make([]float32, bufferSize/8)
	raw := newScratch(bufferSize)
	for i := range raw {
		raw[i] = byte(i%16 + i%3) // small floats of every size
	}
	for k := f2; k <= u8; k++ {
		b.Run(fmt.Sprintf("kind=%v", k), func(b *testing.B) {
			b.SetBytes(int64(len(dst) * k.size()))
			for b.Loop() {
				if bad := decode(dst, raw, k); bad >= 0 {
					b.Fatalf("element %d does not fit", bad)
				}
			}
		})
	}
}
