package mechanism

import (
	"context"
	"fmt"
	chacha "math/rand/v2"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/noise"
	"github.com/seed-64e14a55/privatemail/par"
)

// BenchmarkDraw measures the sampler: its own speed, and that of the chunks of
// a release of two million coordinates with one and two workers.
func BenchmarkDraw(b *testing.B) {
	b.Run("sampler", func(b *testing.B) {
		normal := noise.Sampler{Words: chacha.NewChaCha8(noise.Seed{1})}
		b.ReportAllocs()
		for b.Loop() {
			normal.Draw(1<<41 - 3)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "samples/s")
	})
	const n = 2_000_000
	c, r := fixture(b, 1000, n/1000, 1)
	for _, count := range []int{1, 2} {
		b.Run(fmt.Sprintf("n=%d/workers=%d", n, count), func(b *testing.B) {
			workers := par.New(count)
			defer workers.Close()
			for b.Loop() {
				if _, err := c.Privatize(context.Background(), NoLedger, r, workers); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "samples/s")
		})
	}
}
