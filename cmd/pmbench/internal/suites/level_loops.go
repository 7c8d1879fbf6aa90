package suites

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// A levelLoop is a loop of package simd on data of a typical size, which stays in the
// caches of a core.
type levelLoop struct {
	name string // the method of simd.Kernels, and key=value pairs
	make func(r *rand.Rand) loopRun
}

// A loopRun is a loop with its data.
type loopRun struct {
	elements int // of one run: entries, pairs, numbers or rows, by which times are divided
	bytes    int // that one run reads and writes
	run      func(s *simd.Kernels)
}

// levelLoops lists every loop of package simd.
func levelLoops() (out []levelLoop) {
	for _, part := range [][]levelLoop{sparseLoops(), stepLoops(), nearLoops(), gridLoops(), denseLoops(), doubleLoops(), byteLoops(), wordLoops(), plainLoops()} {
		out = append(out, part...)
	}
	return out
}

// A loopMatrix is a sparse matrix with rows of 26 to 38 entries, in runs of neighbouring
// columns as points in curve order have them.
type loopMatrix struct {
	ptr       []uint64
	ind, base []uint32
	off, half []uint16
	val       []float32
}

func newLoopMatrix(r *rand.Rand, rows int) *loopMatrix {
	m := &loopMatrix{ptr: make([]uint64, 1, rows+1)}
	for i := range rows {
		first := uint32(max(0, i-64))
		m.base = append(m.base, first)
		for range 26 + r.IntN(13) {
			off := r.Uint32N(96)
			m.ind, m.off = append(m.ind, first+off), append(m.off, uint16(off))
			v := r.Float32()
			m.val, m.half = append(m.val, v), append(m.half, simd.Float16(v))
		}
		m.ptr = append(m.ptr, uint64(len(m.ind)))
	}
	return m
}

func sparseLoops() (out []levelLoop) {
	for _, k := range []int{1, 2, 4, 8, 16, 32} {
		for _, method := range []string{"MulSparse", "MulSparseOffsets", "MulSparseOffsets16"} {
			out = append(out, levelLoop{fmt.Sprintf("%s/k=%d", method, k), func(r *rand.Rand) loopRun { return productLoop(r, method, k) }})
		}
	}
	matrix := func(name string, run func(m *loopMatrix, sums []float64, off []uint16) func(s *simd.Kernels)) levelLoop {
		return levelLoop{name, func(r *rand.Rand) loopRun {
			const rows = 512
			m := newLoopMatrix(r, rows)
			return loopRun{len(m.ind), 6 * len(m.ind), run(m, make([]float64, rows), make([]uint16, len(m.ind)))}
		}}
	}
	return append(out,
		matrix("SumSparse/row=32", func(m *loopMatrix, sums []float64, _ []uint16) func(s *simd.Kernels) {
			return func(s *simd.Kernels) { s.SumSparse(sums, m.ptr, m.val) }
		}),
		matrix("PackColumns/row=32", func(m *loopMatrix, _ []float64, off []uint16) func(s *simd.Kernels) {
			return func(s *simd.Kernels) { s.PackColumns(off, m.ptr, m.base, m.ind) }
		}),
		matrix("Float32s/n=16384", func(m *loopMatrix, _ []float64, _ []uint16) func(s *simd.Kernels) {
			dst := make([]float32, len(m.half))
			return func(s *simd.Kernels) { s.Float32s(dst, m.half) }
		}))
}

// productLoop is a product with k columns in one of the forms of a matrix. With few columns
// it has many rows: a processor must not learn by heart where they end.
func productLoop(r *rand.Rand, method string, k int) loopRun {
	rows := max(512, 2048/k)
	m := newLoopMatrix(r, rows)
	x, dst := simd.RowsOf(loopNumbers[float32](r, (rows+96)*k), k), simd.RowsOf(make([]float32, rows*k), k)
	l := loopRun{elements: len(m.ind), bytes: 8*len(m.ind) + 4*len(x.Data) + 4*len(dst.Data)}
	switch method {
	case "MulSparse":
		l.run = func(s *simd.Kernels) { s.MulSparse(dst, k, m.ptr, m.ind, m.val, x) }
	case "MulSparseOffsets":
		l.run = func(s *simd.Kernels) { s.MulSparseOffsets(dst, k, m.ptr, m.base, m.off, m.val, x) }
	default:
		l.run = func(s *simd.Kernels) { s.MulSparseOffsets16(dst, k, m.ptr, m.base, m.off, m.half, x) }
	}
	return l
}

func stepLoops() (out []levelLoop) {
	const rows, classes = 512, 10
	for _, k := range []int{1, 2, 3, 8, 32} {
		out = append(out, levelLoop{fmt.Sprintf("FinishStep/k=%d", k), func(r *rand.Rand) loopRun {
			f := &simd.StepFinish{
				Mean: loopNumbers[float64](r, k), Pull: 0.7, Weight: loopNumbers[float64](r, classes), Extra: loopNumbers[float64](r, classes),
				Target: loopNumbers[float64](r, classes*k), Class: make([]float64, classes*simd.ClassWidth(k)),
			}
			x, dst, wx, degrees, slots := loopNumbers[float32](r, rows*k), make([]float32, rows*k), loopNumbers[float32](r, rows*k), loopNumbers[float64](r, rows), make([]uint32, rows)
			for i := range slots {
				slots[i] = r.Uint32N(classes)
			}
			return loopRun{rows * k, rows * (12*k + 12), func(s *simd.Kernels) {
				s.FinishStep(f, simd.RowsOf(dst, k), simd.RowsOf(x, k), wx, degrees, slots)
			}}
		}})
	}
	return out
}

// nearLoops are those of the search for neighbours in few dimensions. About a third of the
// candidates are near, as in a list of cells.
func nearLoops() (out []levelLoop) {
	for _, d := range []int{2, 3} {
		r2 := []float64{2: 0.16, 3: 0.25}[d]
		for _, method := range []string{"Collect", "FindNear", "CountNear"} {
			out = append(out, levelLoop{fmt.Sprintf("%s/d=%d", method, d), func(r *rand.Rand) loopRun { return nearLoop(r, method, d, r2) }})
		}
	}
	blocks := levelLoop{"FindInBlocks/d=3", func(r *rand.Rand) loopRun {
		const d, n = 3, 64
		coords, boxes := loopNumbers[float32](r, d*n*simd.BlockPoints+simd.CoordinatePad), make([]float32, 2*d*n+simd.CoordinatePad)
		for i := range d * n {
			boxes[d*n+i] = 1
		}
		ind, d2 := make([]uint32, n*simd.BlockPoints+simd.CoordinatePad), make([]float64, n*simd.BlockPoints+simd.CoordinatePad)
		c := simd.NewCandidates(2*d, n)
		simd.At(simd.Best()).Collect(c, simd.RowsOf(boxes, n), []uint32{0, n})
		return loopRun{n * simd.BlockPoints, 4 * d * n * simd.BlockPoints, func(s *simd.Kernels) {
			s.FindInBlocks(ind, d2, c, simd.RowsOf(coords, n*simd.BlockPoints), 0, 0.1)
		}}
	}}
	out = append(out, blocks, levelLoop{"SlideWindows/rows=9", slideLoop})
	for _, n := range []int{20, 80} {
		out = append(out, levelLoop{fmt.Sprintf("Ranks/n=%d", n), func(r *rand.Rand) loopRun {
			rank, x := make([]uint32, n+simd.RankPad), loopNumbers[float64](r, n+simd.RankPad)
			return loopRun{n, 12 * n, func(s *simd.Kernels) { s.Ranks(rank, x, n) }}
		}})
	}
	return out
}

// nearLoop is what a cluster of points and its candidates go through.
func nearLoop(r *rand.Rand, method string, d int, r2 float64) loopRun {
	const n, points, candidates = 1024, 8, 96
	coords := simd.RowsOf(loopNumbers[float32](r, d*n+simd.CoordinatePad), n)
	spans, counts := []uint32{0, 17, 100, 116, 200, 215, 300, 316, 400, 417, 500, 515}, make([]uint32, points)
	const pairs = points * candidates
	ind, d2 := make([]uint32, pairs+simd.CoordinatePad), make([]float64, pairs+simd.CoordinatePad)
	c := simd.NewCandidates(d, candidates)
	simd.At(simd.Best()).Collect(c, coords, spans)
	switch method {
	case "Collect":
		return loopRun{candidates, 4 * d * candidates, func(s *simd.Kernels) { s.Collect(c, coords, spans) }}
	case "CountNear":
		return loopRun{pairs, 8 * d * pairs, func(s *simd.Kernels) { s.CountNear(counts, c, coords, 0, r2) }}
	}
	return loopRun{pairs, 8 * d * pairs, func(s *simd.Kernels) { s.FindNear(ind, d2, counts, c, coords, 0, r2) }}
}

// slideLoop moves the windows of nine rows of cells from one end to the other. Rows are so
// long that a processor cannot learn by heart how far each window moves.
func slideLoop(r *rand.Rand) loopRun {
	const rows, cells, moves = 9, 4096, 4096
	numbers := make([]uint32, rows*cells)
	begin, windows := make([]simd.Window, rows), make([]simd.Window, rows)
	for i := range rows {
		at := uint32(0)
		for j := range cells {
			at += r.Uint32N(3)
			numbers[i*cells+j] = at
		}
		begin[i] = simd.Window{From: i * cells, To: i * cells, End: (i + 1) * cells, Half: 2}
	}
	return loopRun{rows * moves, 4 * len(numbers), func(s *simd.Kernels) {
		copy(windows, begin)
		for lo := range uint32(moves) {
			s.SlideWindows(windows, numbers, lo, lo+1)
		}
	}}
}

// gridLoops are those of the interpolated kernel, with p nodes along an axis.
func gridLoops() (out []levelLoop) {
	const m = 128
	for _, p := range []int{5, 12} {
		grid := func(method string, run func(s *simd.Kernels, basis, t, x, nodes []float64)) {
			out = append(out, levelLoop{fmt.Sprintf("%s/p=%d", method, p), func(r *rand.Rand) loopRun {
				basis, t, x, nodes := make([]float64, p*m), loopNumbers[float64](r, m), loopNumbers[float64](r, m), make([]float64, p*p)
				return loopRun{m, 8 * m * p, func(s *simd.Kernels) { run(s, basis, t, x, nodes) }}
			}})
		}
		grid("LagrangeBasis", func(s *simd.Kernels, basis, t, _, nodes []float64) { s.LagrangeBasis(basis, t, nodes[:p], nodes[:p]) })
		grid("PointsToNodes", func(s *simd.Kernels, basis, _, x, nodes []float64) { s.PointsToNodes(nodes, basis, basis, x) })
		grid("NodesToPoints", func(s *simd.Kernels, basis, _, x, nodes []float64) { s.NodesToPoints(x, basis, basis, nodes, m) })
	}
	for _, n := range []int{12, 256} {
		out = append(out, levelLoop{fmt.Sprintf("AddRows/n=%d", n), func(r *rand.Rand) loopRun {
			const rows = 12
			dst, v, x := make([]float64, n), loopNumbers[float64](r, rows), loopNumbers[float64](r, rows*n)
			return loopRun{rows * n, 8 * rows * n, func(s *simd.Kernels) {
				clear(dst)
				s.AddRows(dst, v, simd.RowsOf(x, n))
			}}
		}})
	}
	return out
}

// denseLoops are those of rows with many columns.
func denseLoops() (out []levelLoop) {
	const rows, k = 64, 2
	for _, d := range []int{64, 512} {
		dense := func(method string, madds int, run func(s *simd.Kernels, dst, w, b, x simd.Rows[float32], centre []float32)) {
			out = append(out, levelLoop{fmt.Sprintf("%s/d=%d", method, d), func(r *rand.Rand) loopRun {
				dst, x := simd.RowsOf(make([]float32, rows*max(d, rows)), max(d, rows)), simd.RowsOf(loopNumbers[float32](r, rows*d), d)
				w, b, centre := simd.RowsOf(loopNumbers[float32](r, rows*k), k), simd.RowsOf(loopNumbers[float32](r, k*d), d), loopNumbers[float32](r, d)
				return loopRun{madds * d, 4 * rows * d, func(s *simd.Kernels) { run(s, dst, w, b, x, centre) }}
			}})
		}
		dense("Dots", rows*rows, func(s *simd.Kernels, dst, _, _, x simd.Rows[float32], _ []float32) { s.Dots(dst, x, x, rows, rows, d) })
		dense("MulTrans", rows*k, func(s *simd.Kernels, dst, w, _, x simd.Rows[float32], _ []float32) { s.MulTrans(dst, w, x, k, rows, d) })
		dense("Centre", rows, func(s *simd.Kernels, dst, _, _, x simd.Rows[float32], c []float32) { s.Centre(dst, x, rows, c, 2) })
		dense("CentredMulTrans", rows*k, func(s *simd.Kernels, dst, w, _, x simd.Rows[float32], c []float32) {
			s.CentredMulTrans(dst, w, x, k, rows, c, 2)
		})
		dense("CentredDots", rows*k, func(s *simd.Kernels, dst, _, b, x simd.Rows[float32], c []float32) {
			s.CentredDots(dst, b, x, k, rows, c, 2)
		})
		out = append(out, distanceLoops(d)...)
	}
	return out
}

// distanceLoops measure rows that lie anywhere among others.
func distanceLoops(d int) []levelLoop {
	const rows, count = 128, 64
	distances := func(method string, run func(s *simd.Kernels, x []float32, all simd.Rows[float32], index []uint32)) levelLoop {
		return levelLoop{fmt.Sprintf("%s/d=%d", method, d), func(r *rand.Rand) loopRun {
			all, index := loopNumbers[float32](r, rows*d), make([]uint32, count)
			for i := range index {
				index[i] = r.Uint32N(rows)
			}
			return loopRun{count * d, 4 * count * d, func(s *simd.Kernels) { run(s, all[:d], simd.RowsOf(all, d), index) }}
		}}
	}
	single, double := make([]float32, count), make([]float64, count)
	return []levelLoop{
		distances("SqDists", func(s *simd.Kernels, x []float32, all simd.Rows[float32], index []uint32) {
			s.SqDists(single, x, all, index, float32(d))
		}),
		distances("SqDists64", func(s *simd.Kernels, x []float32, all simd.Rows[float32], index []uint32) {
			s.SqDists64(double, x, all, index)
		}),
	}
}

// byteLoops are those of the search in many dimensions by codes of bytes.
func byteLoops() (out []levelLoop) {
	for _, depth := range []int{64, 512} {
		out = append(out, levelLoop{fmt.Sprintf("ByteDotsAbove/depth=%d", depth), func(r *rand.Rand) loopRun {
			const rows, columns = 128, 128
			a, panel := make([]int8, rows*depth), make([]uint8, columns*depth)
			for i := range a {
				a[i], panel[i] = int8(r.Uint32()), uint8(r.Uint32())
			}
			mask, bias, threshold := make([]uint64, rows*columns/64), make([]int32, columns), make([]int32, rows)
			return loopRun{rows * columns, (rows + columns) * depth, func(s *simd.Kernels) { s.ByteDotsAbove(mask, a, panel, depth, bias, threshold) }}
		}}, levelLoop{fmt.Sprintf("RoundToBytes/d=%d", depth), func(r *rand.Rand) loopRun {
			code, x, centre := make([]int8, depth), loopNumbers[float32](r, depth), loopNumbers[float32](r, depth)
			return loopRun{depth, 9 * depth, func(s *simd.Kernels) { s.RoundToBytes(code, x, centre, 100) }}
		}})
	}
	return out
}

// plainLoops go once over numbers.
func plainLoops() []levelLoop {
	const n, d = 4096, 64
	return []levelLoop{
		{"Weights/n=4096", func(r *rand.Rand) loopRun {
			dst, d2 := make([]float32, n), loopNumbers[float64](r, n)
			return loopRun{n, 12 * n, func(s *simd.Kernels) { s.Weights(dst, d2, 9) }}
		}},
		{"Finite/n=4096", func(r *rand.Rand) loopRun {
			x := loopNumbers[float32](r, n)
			return loopRun{n, 4 * n, func(s *simd.Kernels) { s.Finite(x) }}
		}},
		{"LargestDifference/d=64", func(r *rand.Rand) loopRun {
			x, mean := loopNumbers[float32](r, d), loopNumbers[float64](r, d)
			return loopRun{d, 12 * d, func(s *simd.Kernels) { s.LargestDifference(x, mean) }}
		}},
		{"ScaleDifferences/d=64", func(r *rand.Rand) loopRun {
			dst, x, mean := make([]float32, d), loopNumbers[float32](r, d), loopNumbers[float64](r, d)
			return loopRun{d, 16 * d, func(s *simd.Kernels) { s.ScaleDifferences(dst, x, mean, 0.5) }}
		}},
		{"ScaleProducts/d=64", func(r *rand.Rand) loopRun {
			dst, x, columns := make([]float32, d), loopNumbers[float32](r, d), loopNumbers[float64](r, d)
			return loopRun{d, 16 * d, func(s *simd.Kernels) { s.ScaleProducts(dst, x, 0.5, columns) }}
		}},
		{"ScaleRow/d=64", func(r *rand.Rand) loopRun {
			dst, x := make([]float32, d), loopNumbers[float32](r, d)
			return loopRun{d, 8 * d, func(s *simd.Kernels) { s.ScaleRow(dst, x, 0.5) }}
		}},
		{"GrowBox/d=64", func(r *rand.Rand) loopRun {
			lo, hi, x := make([]float32, d), make([]float32, d), loopNumbers[float32](r, n)
			return loopRun{n, 4 * n, func(s *simd.Kernels) {
				for at := 0; at < n; at += d {
					s.GrowBox(lo, hi, x[at:at+d])
				}
			}}
		}},
	}
}

// loopNumbers returns numbers from 0 to 1.
func loopNumbers[T float32 | float64](r *rand.Rand, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T(r.Float32())
	}
	return out
}

// doubleLoops are those of private steps, in float64.
func doubleLoops() (out []levelLoop) {
	for _, d := range []int{64, 512} {
		out = append(out, levelLoop{fmt.Sprintf("Dots64/d=%d", d), func(r *rand.Rand) loopRun {
			const rows = 48
			dst, x := simd.RowsOf(make([]float64, rows*rows), rows), simd.RowsOf(loopNumbers[float64](r, rows*d), d)
			return loopRun{rows * rows * d, 8 * rows * d, func(s *simd.Kernels) { s.Dots64(dst, x, x, rows, rows, d) }}
		}})
	}
	out = append(out, pairLoops()...)
	return append(out, momentLoops()...)
}

// pairLoops follow the dot products of a block of rows against another.
func pairLoops() []levelLoop {
	const n, k = 64, 3
	block := func(method string, run func(s *simd.Kernels, w, x, dst simd.Rows[float64], norms, to []float64)) levelLoop {
		return levelLoop{fmt.Sprintf("%s/n=%d", method, n*n), func(r *rand.Rand) loopRun {
			w, x, dst := simd.RowsOf(loopNumbers[float64](r, n*n), n), simd.RowsOf(loopNumbers[float64](r, k*n), n), simd.RowsOf(make([]float64, k*n), n)
			norms, to := make([]float64, n*n), make([]float64, n*n)
			for i := range norms {
				norms[i] = 1
			}
			return loopRun{n * n, 8 * n * n, func(s *simd.Kernels) { run(s, w, x, dst, norms, to) }}
		}}
	}
	return []levelLoop{
		block("DotsToSqDists64", func(s *simd.Kernels, _, _, _ simd.Rows[float64], norms, to []float64) {
			clear(to)
			s.DotsToSqDists64(to, 1, norms)
		}),
		block("Weights64", func(s *simd.Kernels, w, _, _ simd.Rows[float64], _, to []float64) { s.Weights64(to, w.Data, 9, 0, 700) }),
		block("WeightedSums64", func(s *simd.Kernels, w, x, dst simd.Rows[float64], _, _ []float64) {
			s.WeightedSums64(dst, w, x, k, n, n)
		}),
		block("WeightedSumsTrans64", func(s *simd.Kernels, w, x, dst simd.Rows[float64], _, _ []float64) {
			s.WeightedSumsTrans64(dst, w, x, k, n, n)
		}),
	}
}

// momentLoops are those of polynomials of degree 2.
func momentLoops() (out []levelLoop) {
	const rows = 64
	for _, d := range []int{16, 64} {
		moments := func(method string, run func(s *simd.Kernels, y simd.Rows[float64], w, m, linear, dst []float64)) {
			out = append(out, levelLoop{fmt.Sprintf("%s/d=%d", method, d), func(r *rand.Rand) loopRun {
				y, w, linear := simd.RowsOf(loopNumbers[float64](r, rows*d), d), loopNumbers[float64](r, rows), loopNumbers[float64](r, d)
				m, dst := make([]float64, simd.MomentsSize(d)), make([]float64, rows)
				return loopRun{rows * d * (d + 1) / 2, 8 * (rows*d + len(m)), func(s *simd.Kernels) { run(s, y, w, m, linear, dst) }}
			}})
		}
		moments("AddMoments", func(s *simd.Kernels, y simd.Rows[float64], w, m, _, _ []float64) {
			clear(m)
			s.AddMoments(m, y, w, d)
		})
		moments("QuadraticForms", func(s *simd.Kernels, y simd.Rows[float64], _, m, linear, dst []float64) {
			s.QuadraticForms(dst, y, linear, m)
		})
	}
	return out
}

// wordLoops are those of search on encrypted queries.
func wordLoops() []levelLoop {
	multiply := func(s *simd.Kernels, p *wordProduct) {
		s.MulWords(p.sums, p.rows, p.panel, p.rows, p.packed[s.Level()])
	}
	return []levelLoop{
		wordLoop("MulWords", 24, multiply),
		wordLoop("MulWords", 384, multiply),
		// Levels lay words out in their own ways, and plain Go copies them: packing is timed with
		// the product that it is for.
		wordLoop("PackWords", 24, func(s *simd.Kernels, p *wordProduct) {
			s.PackWords(p.packed[s.Level()], p.words, p.depth, wordBytes)
			multiply(s, p)
		}),
		{"WordDots/columns=8", func(r *rand.Rand) loopRun {
			const rows, columns, depth = 16, 8, 1408
			a, b, dst := loopWords(r, rows*depth, 4), loopWords(r, columns*depth, 4), make([]uint32, rows*columns)
			return loopRun{rows * columns * depth, 4 * (len(a) + len(b)), func(s *simd.Kernels) { s.WordDots(dst, a, b, depth) }}
		}},
	}
}

// wordBytes is how many bytes of a word a query sends.
const wordBytes = 3

// A wordProduct is a panel of bytes, and columns of words that every level has packed.
type wordProduct struct {
	rows, depth int
	panel       []int8
	words, sums []uint32
	packed      map[simd.Level]*simd.Words
}

// wordLoop is a loop on a product with the given number of bytes in a place of all columns.
func wordLoop(method string, bytes int, run func(s *simd.Kernels, p *wordProduct)) levelLoop {
	return levelLoop{fmt.Sprintf("%s/bytes=%d", method, bytes), func(r *rand.Rand) loopRun {
		const rows, depth = 128, 512
		columns := bytes / wordBytes
		p := &wordProduct{
			rows: rows, depth: depth, panel: make([]int8, rows*depth),
			words: loopWords(r, columns*depth, wordBytes), sums: make([]uint32, columns*rows), packed: make(map[simd.Level]*simd.Words),
		}
		for i := range p.panel {
			p.panel[i] = int8(r.Uint32())
		}
		for _, s := range simd.All() {
			p.packed[s.Level()] = new(simd.Words)
			s.PackWords(p.packed[s.Level()], p.words, depth, wordBytes)
		}
		return loopRun{rows * columns * depth, len(p.panel) + 4*len(p.words) + 4*len(p.sums), func(s *simd.Kernels) { run(s, p) }}
	}}
}

// loopWords draws words of which the upper bytes count.
func loopWords(r *rand.Rand, n, width int) []uint32 {
	words := make([]uint32, n)
	for i := range words {
		words[i] = r.Uint32() >> (8 * (4 - width)) << (8 * (4 - width))
	}
	return words
}
