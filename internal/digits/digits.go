package digits

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/gonum/blas/blas32"
)

const (
	// Images is the number of rows.
	Images = 1797
	// Pixels is the number of columns.
	Pixels = 64
	// Classes is the number of different labels.
	Classes = 10

	maxPixel = 16
)

//go:embed digits.bin.gz
var packed []byte

// Load returns the images, one per row, and their labels. Every call unpacks the set
// again (about a millisecond), so the caller may change the result. It panics if the
// program's own copy is damaged. It is safe for concurrent use.
func Load() (features blas32.General, labels []int32) {
	features, labels, err := unpack(packed)
	if err != nil {
		panic("digits: embedded data are damaged: " + err.Error())
	}
	return features, labels
}

var errFormat = errors.New("not the digits")

func unpack(packed []byte) (blas32.General, []int32, error) {
	fail := func(err error) (blas32.General, []int32, error) {
		return blas32.General{}, nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fail(err)
	}
	const size = Images*Pixels + Images
	raw, err := io.ReadAll(io.LimitReader(r, size+1))
	if err != nil {
		return fail(err)
	}
	if len(raw) != size {
		return fail(fmt.Errorf("%w: %d bytes, want %d", errFormat, len(raw), size))
	}

	features := blas32.General{Rows: Images, Cols: Pixels, Stride: Pixels, Data: make([]float32, Images*Pixels)}
	for i, v := range raw[:Images*Pixels] {
		if v > maxPixel {
			return fail(fmt.Errorf("%w: pixel %d is above %d", errFormat, i+1, maxPixel))
		}
		features.Data[i] = float32(v)
	}
	labels := make([]int32, Images)
	for i, v := range raw[Images*Pixels:] {
		if v >= Classes {
			return fail(fmt.Errorf("%w: the label of row %d is not below %d", errFormat, i+1, Classes))
		}
		labels[i] = int32(v)
	}
	return features, labels, nil
}
