package simd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// curve returns a matrix whose columns lie as those of points in curve order:
// near the diagonal in a few runs.
var curve = sync.OnceValues(func() ([]uint64, []uint32) {
	const n, m = 1_000_000, 32
	r := rand.New(rand.NewPCG(3, 4))
	ptr, ind := make([]uint64, n+1), make([]uint32, 0, n*m)
	for i := range n {
		for run := range 4 {
			at := i + (run-2)*1024 + r.IntN(16)
			for e := range m / 4 {
				ind = append(ind, uint32(min(max(at+e*2, 0), n-1)))
			}
		}
		ptr[i+1] = uint64(len(ind))
	}
	return ptr, ind
})

var scatter = sync.OnceValues(func() ([]uint64, []uint32) {
	const n, m = 1_000_000, 32
	r := rand.New(rand.NewPCG(3, 4))
	ptr, ind := make([]uint64, n+1), make([]uint32, n*m)
	for i := range ind {
		ind[i] = uint32(r.IntN(n))
	}
	for i := range ptr {
		ptr[i] = uint64(i * m)
	}
	return ptr, ind
})

var ones = sync.OnceValue(func() []float32 {
	v := make([]float32, 32_000_000)
	for i := range v {
		v[i] = 1 + float32(i&7)
	}
	return v
})

var sink float32

// A stopwatch times the pieces of a pass and keeps the best of each over all
// passes: an estimate for an undisturbed pass, on machines that are always disturbed.
type stopwatch struct {
	best  []float64
	piece int
	from  time.Time
}

func (w *stopwatch) begin() { w.piece, w.from = 0, time.Now() }

func (w *stopwatch) lap() {
	now := time.Now()
	seconds := now.Sub(w.from).Seconds()
	if w.piece == len(w.best) {
		w.best = append(w.best, seconds)
	}
	w.best[w.piece] = min(w.best[w.piece], seconds)
	w.piece, w.from = w.piece+1, now
}

func (w *stopwatch) seconds() (sum float64) {
	for _, v := range w.best {
		sum += v
	}
	return sum
}

// streamRate is the bandwidth of a sequential read of 128 MB in bytes per
// second.
var streamRate = sync.OnceValue(func() float64 {
	v := ones()
	var w stopwatch
	for range 20 {
		w.begin()
		for lo := 0; lo < len(v); lo += 1 << 17 {
			sink += streamRead(v[lo:min(lo+1<<17, len(v))])
			w.lap()
		}
	}
	return float64(4*len(v)) / w.seconds()
})

func normals(r *rand.Rand, n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(r.NormFloat64())
	}
	return s
}

// BenchmarkMulSparse compares the products with a sequential read of memory: the
// model is that every entry, row pointer and number of x is read once and every
// sum is written once. Form tile leaves its sums in a tile of 64 rows, as a step does.
// In random order the limit is how fast rows of x can be fetched; form gather shows it
// by fetching one number of each.
func BenchmarkMulSparse(b *testing.B) {
	const n, m = 1_000_000, 32
	run := func(form, order string, k int, level Level) {
		b.Run(fmt.Sprintf("n=%d/nnz=%d/k=%d/order=%s/form=%s/level=%v", n, m, k, order, form, level), func(b *testing.B) {
			ptr, ind := curve()
			if order == "random" {
				ptr, ind = scatter()
			}
			val := ones()[:len(ind)]
			x, dst, tile := make([]float32, n*k), make([]float32, n*k), make([]float32, 64*k)
			for i := range x {
				x[i], dst[i] = 1, 1 // so that the pages exist
			}
			s := At(level)
			const chunk = 2048
			multiply := map[string]func(lo, hi int){
				"whole": func(lo, hi int) { s.MulSparse(RowsOf(dst[lo*k:], k), k, ptr[lo:hi+1], ind, val, RowsOf(x, k)) },
				"tile": func(lo, hi int) {
					for ; lo < hi; lo += 64 {
						s.MulSparse(RowsOf(tile, k), k, ptr[lo:min(lo+64, hi)+1], ind, val, RowsOf(x, k))
					}
				},
				"gather": func(lo, hi int) { s.MulSparse(RowsOf(dst[lo:], 1), 1, ptr[lo:hi+1], ind, val, RowsOf(x, k)) },
			}[form]
			bytes := 8*len(ind) + 8*n + 8*n*k
			if form != "whole" {
				bytes -= 4 * n * k
			}
			b.SetBytes(int64(bytes))
			var w stopwatch
			for b.Loop() {
				w.begin()
				for lo := 0; lo < n; lo += chunk {
					multiply(lo, min(lo+chunk, n))
					w.lap()
				}
			}
			best, roof := w.seconds(), streamRate()
			b.ReportMetric(float64(len(ind))/best/1e9, "bestGnnz/s")
			b.ReportMetric(float64(bytes)/best/1e9, "bestGB/s")
			b.ReportMetric(roof/1e9, "streamGB/s")
			b.ReportMetric(float64(bytes)/best/roof, "roof")
		})
	}
	for _, level := range Levels() {
		if level == AVX512VNNI || level == AMX {
			continue
		}
		for _, k := range []int{1, 2, 3, 4, 8, 16, 32} {
			run("whole", "curve", k, level)
			run("tile", "curve", k, level)
		}
		run("whole", "random", 8, level)
		run("tile", "random", 8, level)
		run("gather", "random", 8, level)
	}
}

// BenchmarkFloat32s converts the values of a panel.
func BenchmarkFloat32s(b *testing.B) {
	half, val := make([]uint16, pieceEntries), make([]float32, pieceEntries)
	for p := range half {
		half[p] = Float16(float32(p) / pieceEntries)
	}
	for _, level := range Levels() {
		s := At(level)
		b.Run(fmt.Sprintf("level=%v", level), func(b *testing.B) {
			for b.Loop() {
				s.Float32s(val, half)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pieceEntries, "ns/entry")
		})
	}
}

// A cluster of eight points and the candidates of a cell list around it. About a third
// of them are near.
func BenchmarkNear(b *testing.B) {
	const n, m = 1 << 12, 8
	for _, d := range []int{2, 3, 5} {
		r := rand.New(rand.NewPCG(7, 8))
		coords := normals(r, d*n+CoordinatePad)
		for a := range d {
			for i := range m {
				coords[a*n+1000+i] *= 0.1
			}
		}
		spans := []uint32{0, 15, 100, 115, 200, 215, 300, 315, 400, 415}
		const pairs = 5 * 15 * m
		ind, d2, weights, counts := make([]uint32, pairs+CoordinatePad), make([]float64, pairs+CoordinatePad), make([]float32, pairs), make([]uint32, m)
		r2 := []float64{2: 0.8, 3: 1.4, 5: 3}[d]
		for _, level := range Levels() {
			if level == AVX512VNNI || level == AMX {
				continue
			}
			s := At(level)
			c := NewCandidates(d, pairs/m)
			s.Collect(c, RowsOf(coords, n), spans)
			total := s.FindNear(ind, d2, counts, c, RowsOf(coords, n), 1000, r2)
			for _, form := range []struct {
				name string
				run  func()
			}{
				{"collect", func() { s.Collect(c, RowsOf(coords, n), spans) }},
				{"count", func() { s.CountNear(counts, c, RowsOf(coords, n), 1000, r2) }},
				{"fill", func() { s.FindNear(ind, d2, counts, c, RowsOf(coords, n), 1000, r2) }},
				{"weights", func() { s.Weights(weights[:total], d2[:total], 1) }},
			} {
				b.Run(fmt.Sprintf("form=%s/d=%d/level=%v", form.name, d, level), func(b *testing.B) {
					for b.Loop() {
						form.run()
					}
					b.ReportMetric(pairs*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpairs/s")
					b.ReportMetric(float64(total)/pairs, "share")
				})
			}
		}
	}
}

func BenchmarkExpNeg(b *testing.B) {
	const n = 1 << 12
	r := rand.New(rand.NewPCG(7, 8))
	x, dst, d2 := make([]float32, n), make([]float32, n), make([]float64, n)
	for i := range x {
		d2[i] = 20 * r.Float64()
		x[i] = float32(d2[i])
	}
	for _, level := range Levels() {
		if level == AVX512VNNI || level == AMX {
			continue
		}
		s := At(level)
		b.Run(fmt.Sprintf("kernel=expneg/level=%v", level), func(b *testing.B) {
			for b.Loop() {
				s.expNeg(dst, x)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/n*1e9, "ns/elt")
		})
		b.Run(fmt.Sprintf("kernel=weights/level=%v", level), func(b *testing.B) {
			for b.Loop() {
				s.Weights(dst, d2, 0.7)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/n*1e9, "ns/elt")
		})
	}
}

func BenchmarkFinishStep(b *testing.B) {
	const n = 64
	for _, k := range []int{1, 2, 3, 4, 8, 16, 32, 48} {
		c := newFinishCase(rand.New(rand.NewPCG(1, 1)), b, n, k, false)
		for _, level := range Levels() {
			if level == AVX512VNNI || level == AMX {
				continue
			}
			b.Run(fmt.Sprintf("rows=%d/k=%d/level=%v", n, k, level), func(b *testing.B) {
				f := c.tables
				f.Mean, f.Weight, f.Extra, f.Target = slices.Clone(f.Mean), slices.Clone(f.Weight), slices.Clone(f.Extra), slices.Clone(f.Target)
				f.Class = make([]float64, c.classes*ClassWidth(k))
				// Away from the guards, next to which masked loads are slow.
				dst, wx, x, degrees, slots := make([]float32, n*k), slices.Clone(c.wx), slices.Clone(c.x), slices.Clone(c.degrees), slices.Clone(c.slots)
				for b.Loop() {
					At(level).FinishStep(&f, RowsOf(dst, k), RowsOf(x, k), wx, degrees, slots)
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/n*1e9, "ns/row")
			})
		}
	}
}

func BenchmarkSumSparse(b *testing.B) {
	ptr, ind := curve()
	val, dst := ones()[:len(ind)], make([]float64, len(ptr)-1)
	for _, level := range Levels() {
		if level > AVX2 {
			continue // the same function
		}
		b.Run(fmt.Sprintf("rows=%d/nnz=32/level=%v", len(dst), level), func(b *testing.B) {
			b.SetBytes(int64(4*len(val) + 16*len(dst)))
			for b.Loop() {
				At(level).SumSparse(dst, ptr, val)
			}
		})
	}
}

func BenchmarkDots(b *testing.B) {
	const n = 64
	for _, d := range []int{16, 128, 1280} {
		r := rand.New(rand.NewPCG(2, 2))
		rows, dst := normals(r, n*d), make([]float32, n*n)
		for _, na := range []int{1, n} {
			for _, level := range Levels() {
				if level == AVX512VNNI || level == AMX {
					continue
				}
				s := At(level)
				b.Run(fmt.Sprintf("rows=%dx%d/d=%d/level=%v", na, n, d, level), func(b *testing.B) {
					for b.Loop() {
						s.Dots(RowsOf(dst, n), RowsOf(rows, d), RowsOf(rows, d), na, n, d)
					}
					b.ReportMetric(2*float64(na*n*d)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
		}
	}
}

func BenchmarkDots64(b *testing.B) {
	const n = 256
	for _, d := range []int{16, 64, 128, 512, 1280} {
		r := rand.New(rand.NewPCG(2, 2))
		rows, dst := make([]float64, 2*n*d), make([]float64, n*n)
		for i := range rows {
			rows[i] = r.NormFloat64()
		}
		for _, level := range Levels() {
			if level == AVX512VNNI || level == AMX {
				continue
			}
			s := At(level)
			b.Run(fmt.Sprintf("rows=%dx%d/d=%d/level=%v", n, n, d, level), func(b *testing.B) {
				for b.Loop() {
					s.Dots64(RowsOf(dst, n), RowsOf(rows, d), RowsOf(rows[n*d:], d), n, n, d)
				}
				b.ReportMetric(2*float64(n*n*d)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

// BenchmarkBlock64 times the steps after the dot products of a block of 256 rows with 256
// others, per pair.
func BenchmarkBlock64(b *testing.B) {
	const n = 256
	r := rand.New(rand.NewPCG(2, 2))
	w, norms, x := make([]float64, n*n), make([]float64, n), make([]float64, 8*n)
	for i := range norms {
		norms[i] = 1 + r.Float64()
	}
	for _, level := range Levels() {
		if level == AVX512VNNI || level == AMX {
			continue
		}
		s := At(level)
		for name, f := range map[string]func(){
			"distances": func() {
				for i := range n {
					s.DotsToSqDists64(w[i*n:][:n], 1, norms)
				}
			},
			"weights": func() {
				for i := range n {
					s.Weights64(w[i*n:][:n], w[i*n:][:n], 1, 0, 700)
				}
			},
			"rows":    func() { s.WeightedSums64(RowsOf(x[3*n:], n), RowsOf(w, n), RowsOf(x, n), 3, n, n) },
			"columns": func() { s.WeightedSumsTrans64(RowsOf(x[3*n:], n), RowsOf(w, n), RowsOf(x, n), 3, n, n) },
		} {
			b.Run(fmt.Sprintf("%s/level=%v", name, level), func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*n), "ns/pair")
			})
		}
	}
}

// BenchmarkMoments times moments and polynomials of degree 2 of a panel of rows. Half of the
// pairs of columns is multiplied.
func BenchmarkMoments(b *testing.B) {
	const rows = 64
	for _, d := range []int{16, 50, 64, 128} {
		r := rand.New(rand.NewPCG(3, 3))
		y, w, m, dst := make([]float64, rows*d), make([]float64, rows), make([]float64, MomentsSize(d)), make([]float64, rows)
		for i := range y {
			y[i] = r.NormFloat64()
		}
		for _, level := range Levels() {
			if level == AVX512VNNI || level == AMX {
				continue
			}
			s := At(level)
			report := func(b *testing.B) {
				b.ReportMetric(float64(rows*d*(d+1))*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			}
			b.Run(fmt.Sprintf("add/d=%d/level=%v", d, level), func(b *testing.B) {
				for b.Loop() {
					s.AddMoments(m, RowsOf(y, d), w, d)
				}
				report(b)
			})
			b.Run(fmt.Sprintf("forms/d=%d/level=%v", d, level), func(b *testing.B) {
				for b.Loop() {
					s.QuadraticForms(dst, RowsOf(y, d), y[:d], m)
				}
				report(b)
			})
		}
	}
}

// streamRead reads one number of each cache line.
func streamRead(v []float32) (sum float32) {
	for len(v) >= 16 {
		sum += v[0]
		v = v[16:]
	}
	return sum
}

// A tile of points against another, as a search for neighbours compares them. Pairs
// are counted with their thresholds.
func BenchmarkByteDotsAbove(b *testing.B) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, depth := range []int{64, 128, 512} {
		for _, shape := range [][2]int{{128, 128}, {128, 1024}, {100, 128}} {
			rows, columns := shape[0], shape[1]
			a, panel := make([]int8, rows*depth), make([]uint8, columns*depth)
			for i := range a {
				a[i] = int8(r.Uint32())
			}
			for i := range panel {
				panel[i] = uint8(r.Uint32())
			}
			mask, bias, threshold := make([]uint64, rows*columns/64), make([]int32, columns), make([]int32, rows)
			for _, level := range Levels() {
				s := At(level)
				b.Run(fmt.Sprintf("depth=%d/rows=%d/columns=%d/level=%v", depth, rows, columns, level), func(b *testing.B) {
					var w stopwatch
					for b.Loop() {
						w.begin()
						s.ByteDotsAbove(mask, a, panel, depth, bias, threshold)
						w.lap()
					}
					pairs := float64(rows * columns)
					b.ReportMetric(pairs*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gpairs/s")
					b.ReportMetric(pairs/w.seconds()/1e9, "bestGpairs/s")
				})
			}
		}
	}
}

// Rows that passed a filter: most are near, and they lie anywhere.
func BenchmarkSqDists(b *testing.B) {
	const n, m = 4096, 64
	r := rand.New(rand.NewPCG(5, 5))
	for _, d := range []int{64, 512, 1280} {
		rows, dst, index := normals(r, n*d), make([]float32, m), make([]uint32, m)
		for i := range index {
			index[i] = uint32(r.IntN(n))
		}
		for _, level := range Levels() {
			if level == AVX512VNNI || level == AMX {
				continue
			}
			s := At(level)
			for name, limit := range map[string]float32{"whole": float32(4 * d), "half": float32(d)} {
				b.Run(fmt.Sprintf("d=%d/sum=%s/level=%v", d, name, level), func(b *testing.B) {
					var w stopwatch
					for b.Loop() {
						w.begin()
						s.SqDists(dst, rows[:d], RowsOf(rows, d), index, limit)
						w.lap()
					}
					b.ReportMetric(w.seconds()/m*1e9, "best-ns/row")
				})
			}
		}
	}
}

// BenchmarkNodes is the interpolation of a column of points in the plane.
func BenchmarkNodes(b *testing.B) {
	const m = 128
	for _, level := range Levels() {
		for _, p := range []int{5, 8, 12} {
			s := At(level)
			basis, t, x, nodes := make([]float64, p*m), make([]float64, m), make([]float64, m), make([]float64, p*p)
			for i := range t {
				t[i], x[i] = float64(i)/m, 1
			}
			for name, f := range map[string]func(){
				"basis": func() { s.LagrangeBasis(basis, t, nodes[:p], nodes[:p]) },
				"to":    func() { s.PointsToNodes(nodes, basis, basis, x) },
				"from":  func() { s.NodesToPoints(x, basis, basis, nodes, m) },
			} {
				b.Run(fmt.Sprintf("level=%v/p=%d/%s", level, p, name), func(b *testing.B) {
					clear(nodes)
					for b.Loop() {
						f()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/m, "ns/point")
				})
			}
		}
	}
}
