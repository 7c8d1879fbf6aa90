package pca

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/synth"
)

func BenchmarkPCA(b *testing.B) {
	x, err := synth.Uniform(4000, 64, 1)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("n=4000/d=64/m=8", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Fit(x, 8); err != nil {
				b.Fatal(err)
			}
		}
	})
}
