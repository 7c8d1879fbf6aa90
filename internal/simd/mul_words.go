package simd

// Words are columns of 32-bit words that a level has laid out for its MulWords.
type Words struct {
	level          Level
	columns, depth int
	width          int         // how many upper bytes of a word may differ from 0
	packed         []uint32    // the words as they are in plain Go; other levels have a wordLayout
	pieces         [][2]uint32 // the column of a piece, and by how many bits it is shifted left
}

// Columns returns the number of columns.
func (w *Words) Columns() int { return w.columns }

// PackWords lays out columns of words for MulWords of the same kernels. It reuses the memory of w,
// and allocates more if that is too little. Column c is words[c*depth:(c+1)*depth]. depth is a
// multiple of 64. The upper width bytes of a word count, 1 to 4; the lower ones must be 0.
// PackWords panics where shapes do not fit. The time it takes does not depend on the words.
func (s *Kernels) PackWords(w *Words, words []uint32, depth, width int) {
	if depth <= 0 || depth%64 != 0 || len(words)%depth != 0 || width < 1 || width > 4 {
		panic("simd: pack words: bad shape")
	}
	w.level, w.columns, w.depth, w.width = s.level, len(words)/depth, depth, width
	s.packWords(w, words)
}

// MulWords multiplies a matrix of signed bytes with columns of words and adds the products to
// sums, modulo 2^32:
//
//	sums[c*stride+r] += sum over t < depth of a(r, t) * word(c, t)
//
// for rows r and the columns c of w. The byte at place t of row r is
//
//	a(r, t) = panel[(r/16)*16*depth + (t/4)*64 + (r%16)*4 + t%4]
//
// that is, in lines of four places of 16 rows, as PackRows writes them. rows is a multiple of
// 16, depth that of w. A panel that begins at a multiple of 64 bytes in memory is read faster.
// All levels give the same bits. MulWords panics where a slice is too short, or where other
// kernels have packed w. It allocates nothing. A call cannot be interrupted, so give it
// millions of products, not billions.
func (s *Kernels) MulWords(sums []uint32, stride int, panel []int8, rows int, w *Words) {
	switch {
	case w.level != s.level:
		panic("simd: multiply words: packed for another level")
	case rows < 0 || rows%16 != 0 || stride < rows:
		panic("simd: multiply words: bad shape")
	case rows == 0 || w.columns == 0:
		return
	case len(panel)/w.depth < rows || len(sums) < (w.columns-1)*stride+rows:
		panic("simd: multiply words: short slice")
	}
	reads(panel[:rows*w.depth])
	reads(w.packed)
	for c := range w.columns {
		writes(sums[c*stride:][:rows])
	}
	s.mulWords(sums, stride, panel, rows, w)
}

// PackRows lays out rows of signed bytes for MulWords. There are len(rows)/depth rows. The
// panel has at least as many, a multiple of 16; additional rows become zeros. depth is a
// multiple of 4. PackRows panics where shapes do not fit.
func PackRows(panel, rows []int8, depth int) {
	if depth <= 0 || depth%4 != 0 || len(rows)%depth != 0 || len(panel)%depth != 0 || len(panel)/depth%16 != 0 || len(panel) < len(rows) {
		panic("simd: pack rows: bad shape")
	}
	clear(panel[len(rows)/depth/16*16*depth:])
	for r := range len(rows) / depth {
		to := panel[r/16*16*depth+r%16*4:]
		row := rows[r*depth : (r+1)*depth]
		for t := 0; t < depth; t += 4 {
			copy(to[t*16:][:4], row[t:][:4])
		}
	}
}

// packWordsGo copies the words: plain Go takes them as they are.
func packWordsGo(w *Words, words []uint32) {
	w.packed, w.pieces = append(w.packed[:0], words...), w.pieces[:0]
}

// mulWordsGo is the reference.
func mulWordsGo(sums []uint32, stride int, panel []int8, rows int, w *Words) {
	depth := w.depth
	for group := 0; group < rows; group += 16 {
		lines := panel[group*depth : (group+16)*depth]
		for c := range w.columns {
			column := w.packed[c*depth : (c+1)*depth]
			to := sums[c*stride+group:][:16]
			for r := range to {
				sum := to[r]
				for t := 0; t+4 <= depth; t += 4 {
					a, b := (*[4]int8)(lines[16*t+4*r:]), (*[4]uint32)(column[t:])
					sum += uint32(int32(a[0]))*b[0] + uint32(int32(a[1]))*b[1] + uint32(int32(a[2]))*b[2] + uint32(int32(a[3]))*b[3]
				}
				to[r] = sum
			}
		}
	}
}
