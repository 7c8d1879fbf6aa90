package evaluate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/random"
)

// Data is a labelled set of features before any of the protocol.
type Data struct {
	Name     string
	Features blas32.General
	Labels   []int32
	Division Division
	// Dimensions is how many dimensions of the features are kept. Default: 64, or all
	// where there are fewer.
	Dimensions int
	// Generate makes the problem of a seed, for rows that are drawn: of the fields
	// above only Name counts then. nil when the rows are those above.
	Generate func(seed uint64) (*Problem, error)
}

// A Division says how the rows of a data set are shared out. All parts follow
// the shuffled order of the seed.
type Division struct {
	// Public is the number of public rows, which come first.
	Public int `json:"public"`
	// Gallery is the number of gallery rows, which come next; the rest are queries. It
	// is not for use with KnownClasses.
	Gallery int `json:"gallery,omitempty"`
	// KnownClasses above 0 is zero-shot retrieval: the public rows are taken from the
	// classes below it. Of the rows of the other classes the first Queries are the
	// queries and the rest the gallery.
	KnownClasses int32 `json:"known_classes,omitempty"`
	Queries      int   `json:"queries,omitempty"`
}

// DivisionOf returns the division of the published figures for the data sets
// digits, cifar100-mobilenetv2 and cub200-mobilenetv2, and for others three
// tenths public rows, a tenth queries and the rest gallery.
func DivisionOf(name string, rows int) Division {
	switch name {
	case "digits":
		return Division{Public: 400, Gallery: 1000}
	case "cifar100-mobilenetv2":
		return Division{Public: 3000, Gallery: 6000}
	case "cub200-mobilenetv2":
		return Division{Public: 2000, KnownClasses: 100, Queries: 500}
	}
	return Division{Public: rows * 3 / 10, Gallery: rows - rows*3/10 - max(rows/10, 1)}
}

// Split shares out the rows with the given labels. The error is ErrShape when a
// part would be empty or there are too few rows.
func (d Division) Split(labels []int32, seed uint64) (*Split, error) {
	if d.KnownClasses <= 0 {
		return NewSplit(len(labels), d.Public, d.Gallery, seed)
	}
	var known, rest []int
	for _, row := range random.Permutation(len(labels), seed) {
		switch label := labels[row]; {
		case label >= d.KnownClasses:
			rest = append(rest, row)
		case label >= 0:
			known = append(known, row)
		}
	}
	if d.Public < 1 || d.Public > len(known) || d.Queries < 1 || d.Queries >= len(rest) {
		return nil, fmt.Errorf("evaluate: split: %w: %d public rows of %d with known classes, %d queries of %d with others",
			ErrShape, d.Public, len(known), d.Queries, len(rest))
	}
	return &Split{Public: known[:d.Public:d.Public], Queries: rest[:d.Queries:d.Queries], Gallery: rest[d.Queries:]}, nil
}

// dimensions returns how many are kept.
func (d *Data) dimensions() int {
	if d.Dimensions > 0 {
		return d.Dimensions
	}
	return min(64, d.Features.Cols)
}

// fingerprint is a hash of all that the figures depend on but the seed.
func (d *Data) fingerprint() (string, error) {
	if d.Generate != nil {
		return "generated", nil
	}
	n, cols, err := points.Dims(d.Features)
	if err != nil {
		return "", fmt.Errorf("evaluate: %s: %w", d.Name, err)
	}
	if n == 0 || len(d.Labels) != n {
		return "", fmt.Errorf("evaluate: %s: %w: %d rows, %d labels", d.Name, ErrShape, n, len(d.Labels))
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d %+v\n", n, cols, d.dimensions(), d.Division)
	line := make([]byte, 0, 4*cols)
	for i := range n {
		line = line[:0]
		for _, v := range d.Features.Data[i*d.Features.Stride : i*d.Features.Stride+cols] {
			line = binary.LittleEndian.AppendUint32(line, math.Float32bits(v))
		}
		h.Write(line)
	}
	for _, l := range d.Labels {
		h.Write(binary.LittleEndian.AppendUint32(line[:0], uint32(l)))
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}
