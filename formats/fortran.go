package formats

import "errors"

// readFortran reads a matrix that is stored by columns.
func readFortran[T float](s *source, dt dtype, rows, cols int) ([]T, error) {
	n := rows * cols
	if err := withinLimit[T](s, n); err != nil {
		return nil, err
	}
	stored, unmap := mapArray[T](s, n, dt)
	if unmap == nil {
		var err error
		if stored, err = readArray[T](s, n, 1, dt); err != nil {
			e, ok := errors.AsType[*Error](err)
			if ok && errors.Is(err, errRange) { // its row is a place in the file
				i := int(e.Row)
				return nil, rangeError(i%rows*cols+i/rows, cols, dt.kind, native[T]().kind)
			}
			return nil, err
		}
	}
	data := make([]T, n)
	transpose(data, stored, rows, cols)
	if unmap != nil {
		return data, unmap()
	}
	return data, nil
}

// transpose writes rows x cols values by rows; src has them by columns. It works in tiles that
// stay in the cache.
func transpose[T float](dst, src []T, rows, cols int) {
	const tile = 32
	for i0 := 0; i0 < rows; i0 += tile {
		i1 := min(i0+tile, rows)
		for j0 := 0; j0 < cols; j0 += tile {
			j1 := min(j0+tile, cols)
			for i := i0; i < i1; i++ {
				for j := j0; j < j1; j++ {
					dst[i*cols+j] = src[j*rows+i]
				}
			}
		}
	}
}
