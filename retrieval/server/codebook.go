package server

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// maxSource is how long CellsSettings.Source may be.
const maxSource = 4096

// CellsSettings say how a gallery is cut into cells. Zero values mean the
// defaults, where there is one.
type CellsSettings struct {
	// Share of the gallery in an answer, above 0, at most 1/2; 0 means 1/8. An answer is
	// longer where some row would be in no list otherwise: up to twice the share, and
	// more only where lists of that length have no room for all rows.
	Share float64
	// Epsilon is what a client is expected to spend on a query, from which the
	// number of cells follows (Centres). It has no default. A client
	// may spend another epsilon: its privacy is that of its own epsilon, and it
	// retrieves less well.
	Epsilon float64
	// Cells is the number of cells, in place of the rule.
	Cells int
	// Size is the number w of cells in a request; 0 means 1, which is best.
	Size int
	// Partition puts each row in one list only, that of its nearest centre if it has
	// room. There are round(1/Share) cells then, or Cells, and their lists differ in
	// length. It is better for an epsilon up to 3.
	Partition bool
	// Base is the share of the gallery that clients take once, without a query;
	// 0 means 1/16.
	Base float64
	// Encoded is the most memory, in bytes, for encoded answers. The answers of all cells
	// are encoded beforehand in both encodings if all of them fit and a request names one cell;
	// otherwise each is encoded when it is asked for. 0 means 640 MiB, a negative number
	// none. They take Cells times wire.Codebook.AnswerBytes of both encodings, by default twice
	// the memory of the rows to rank or more, above all where epsilon is above 5.
	Encoded int64
	// Map is the published map by which clients place their rows, as bytes that mean
	// nothing here, such as a supervised.Map as JSON; nil where rows are as they are. It is
	// kept with the gallery, and copied.
	Map []byte
	// Source says what the gallery was made from, in whatever words the caller compares
	// later, at most 4,096 bytes of UTF-8. It is kept with the gallery, and is not published.
	Source string
	// Version of the codebook. Each change of the gallery needs a higher one.
	Version uint64
	// Seed of the first centres and of the base sample. It is no secret.
	Seed uint64
	// Workers share the work, such as par.New starts; nil when the caller works alone.
	// Their number changes no bit of the codebook.
	Workers *par.Workers
	// Progress is called after each step of k-means; nil when nobody listens.
	Progress func(done, total int)
}

// withDefaults returns the settings with all numbers set, for a gallery of n
// rows.
func (s CellsSettings) withDefaults(n int) (CellsSettings, error) {
	if s.Share == 0 {
		s.Share = 1. / 8
	}
	if s.Base == 0 {
		s.Base = 1. / 16
	}
	if s.Size == 0 {
		s.Size = 1
	}
	if s.Encoded == 0 {
		s.Encoded = defaultEncoded
	}
	if !(s.Share > 0 && s.Share <= 0.5) || !(s.Base > 0 && s.Base <= 1) {
		return s, fmt.Errorf("%w: a share of %g in an answer and %g in the base", ErrCells, s.Share, s.Base)
	}
	if len(s.Source) > maxSource {
		return s, fmt.Errorf("%w: a source of %d bytes, at most %d are kept", ErrGallery, len(s.Source), maxSource)
	}
	if !utf8.ValidString(s.Source) { // a file would have another one
		return s, fmt.Errorf("%w: the source is no UTF-8", ErrGallery)
	}
	switch {
	case s.Cells != 0:
	case s.Partition:
		s.Cells = int(min(math.Round(1/s.Share), limits.MaxCells+1))
	default:
		cells, err := Centres(s.Share, s.Epsilon)
		if err != nil {
			return s, err
		}
		s.Cells = cells
	}
	if most := min(n, limits.MaxCells); s.Cells > most {
		return s, fmt.Errorf("%w: %d cells, and %d rows allow at most %d", ErrCells, s.Cells, n, most)
	}
	if s.Size < 1 || s.Size >= s.Cells {
		return s, fmt.Errorf("%w: %d of %d cells in a request", ErrCells, s.Size, s.Cells)
	}
	return s, nil
}
