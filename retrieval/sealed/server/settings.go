package server

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

const (
	// maxSource is how long Settings.Source may be.
	maxSource = 4096
	// defaultHistory is how many versions of a gallery are known besides the current one.
	defaultHistory = 4096
	// defaultRounds is how many rounds are worth their time: at 8 probes the first three find up
	// to 3 of 100 neighbours more, and the next seven next to none.
	defaultRounds = 3
	// mostRounds is the most that Settings.Rounds may be.
	mostRounds = 100
)

// Settings say how a gallery is laid out. Zero values mean the defaults.
type Settings struct {
	// Cells is the number m of cells; 0 means max(4, round(sqrt(n)/2)) for n rows, and n where
	// there are fewer than that.
	Cells int
	// Probes is the number P of cells that a query is scored in, 1 to Cells; 0 means 8, or
	// Cells where that is less. Every request has as many ciphertexts.
	Probes int
	// Rounds is how often centres move to the means of the rows that are in their cells, and
	// rows take their places again; 0 means 3, and a number below 0 never.
	Rounds int
	// Seed of k-means. It is no secret.
	Seed uint64
	// Map is the published map by which clients place their rows, as bytes that mean nothing
	// here, such as a supervised.Map as JSON; nil where rows are as they are. It is kept with
	// the gallery, and copied. The manifest has its SHA-256.
	Map []byte
	// Source says what the gallery was made from, in whatever words the caller compares
	// later, at most 4,096 bytes of UTF-8. It is kept with the gallery, and is not published.
	Source string
	// History is how many versions before the current one Changes can lead to; 0 means 4096.
	// Each takes about 6 KB.
	History int
	// Workers share the work of New and of answers, such as par.New starts; nil when the caller
	// works alone. They are lent. Their number changes no bit.
	Workers *par.Workers
	// Progress is called with what is done of a stage, "centres", "layout" or "hint"; nil when
	// nobody listens.
	Progress func(stage string, done, total int)
}

// withDefaults returns the settings with all numbers set, for n rows of dimension d.
func (s Settings) withDefaults(n, d int) (Settings, error) {
	if s.Cells == 0 {
		s.Cells = min(n, max(4, int(math.Round(math.Sqrt(float64(n))/2))))
	}
	if s.Probes == 0 {
		s.Probes = min(8, s.Cells)
	}
	if s.Rounds == 0 {
		s.Rounds = defaultRounds
	}
	s.Rounds = max(0, s.Rounds)
	if s.History == 0 {
		s.History = defaultHistory
	}
	switch most := min(n, limits.MaxCells, limits.MaxSealedColumns/d); {
	case s.Cells < 1 || s.Cells > most:
		return s, fmt.Errorf("%w: %d cells, and %d rows of dimension %d allow 1 to %d", ErrGallery, s.Cells, n, d, most)
	case s.Probes < 1 || s.Probes > min(s.Cells, limits.MaxCiphertexts):
		return s, fmt.Errorf("%w: %d probes of %d cells", ErrGallery, s.Probes, s.Cells)
	case s.slots(n) > limits.MaxSlots:
		return s, fmt.Errorf("%w: %d slots for %d rows, at most %d have names", ErrGallery, s.slots(n), n, int64(limits.MaxSlots))
	case s.Rounds > mostRounds:
		return s, fmt.Errorf("%w: %d rounds, want at most %d", ErrGallery, s.Rounds, mostRounds)
	case s.History < 0:
		return s, fmt.Errorf("%w: a history of %d versions", ErrGallery, s.History)
	}
	return s, checkSource(s.Source)
}

// checkSource refuses what a file would not have.
func checkSource(source string) error {
	switch {
	case len(source) > maxSource:
		return fmt.Errorf("%w: a source of %d bytes, at most %d are kept", ErrGallery, len(source), maxSource)
	case !utf8.ValidString(source):
		return fmt.Errorf("%w: the source is no UTF-8", ErrGallery)
	}
	return nil
}

// length returns the number of slots of a cell for n rows, ceil(1.25 n/m).
func (s Settings) length(n int) int {
	return int((5*int64(n) + 4*int64(s.Cells) - 1) / (4 * int64(s.Cells)))
}

// slots returns the number of slots for n rows.
func (s Settings) slots(n int) int64 { return int64(s.Cells) * int64(s.length(n)) }

// stage returns Progress for a stage, nil where nobody listens.
func (s Settings) stage(name string) func(done, total int) {
	if s.Progress == nil {
		return nil
	}
	return func(done, total int) { s.Progress(name, done, total) }
}
