package synth

import "testing"

func BenchmarkKind(b *testing.B) {
	for _, k := range Kinds() {
		b.Run("kind="+k.Name+"/n=1000000/d=2", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(1e6 * 2 * 4)
			for b.Loop() {
				if _, _, err := k.Make(Request{N: 1e6, D: 2, Seed: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
