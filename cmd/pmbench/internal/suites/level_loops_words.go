package suites

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed-64e14a55/privatemail/simd"
)

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
