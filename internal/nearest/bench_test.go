package nearest

import (
	"fmt"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/par"
)

func BenchmarkRows(b *testing.B) {
	for _, c := range []struct{ nq, n, d int }{{397, 1000, 64}, {64, 8000, 1280}} {
		queries, errQ := synth.Uniform(c.nq, c.d, 1)
		gallery, errG := synth.Uniform(c.n, c.d, 2)
		if errQ != nil || errG != nil {
			b.Fatal(errQ, errG)
		}
		for _, count := range []int{1, 2} {
			b.Run(fmt.Sprintf("q=%d/n=%d/d=%d/k=8/workers=%d", c.nq, c.n, c.d, count), func(b *testing.B) {
				workers := par.New(count)
				defer workers.Close()
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := Rows(b.Context(), queries, gallery, 8, Settings{Workers: workers}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*float64(c.nq)*float64(c.n)*float64(c.d)/b.Elapsed().Seconds()/1e9, "Gdiff/s")
			})
		}
	}
}
