package host

import (
	"cmp"

	"github.com/seed-64e14a55/privatemail/retrieval/service"
)

// Settings say what is served. File is required, and of a model Epsilon or Sealed; other zero values
// mean the defaults.
type Settings struct {
	// File is a model, a gallery, a shard or a sealed gallery; see Kind.
	File string
	// Name is what clients see. Default: the name of the file without its ending.
	Name string
	// Labels is a file with a label for each row, or the model, which are published. Default: none.
	Labels string
	// Service says how requests are answered. Share is 1 for a shard, whose clients are front ends,
	// unless it is given. Its Log is told when a sealed gallery grows, too.
	Service service.Settings
	// Workers is how many goroutines make galleries, and answer in mode sealed. Default: one for each
	// processor.
	Workers int
	// MaxMemory is for the making of cells. Default: that of the machine.
	MaxMemory int64
	// Meter, if not nil, begins to show a piece of long work: report is told how far a stage of it is,
	// and end is called after the last report. There is one piece of work at a time.
	Meter func() (report func(stage string, done, total int), end func())

	// Sealed offers mode sealed: of a gallery, the file next to it with the ending .sealed. Records is a
	// text file with a line for each row, which clients may fetch.
	Sealed  bool
	Records string

	// The rest is for models.

	// Gallery is the file for what is made. Default: the name of the model with the ending .gallery.
	// What Sealed and Records make is next to it, with the endings .sealed and .records.
	Gallery string
	// Rebuild replaces what was made of another model or with other settings.
	Rebuild bool
	// Epsilon makes cells for clients that spend it on a query; see server.CellsSettings for it, Share,
	// Base, Cells and Partition. Share is 1/8 by default and Base 1/16.
	Epsilon, Share, Base float64
	Cells                int
	Partition            bool
	// SealedCells and Probes are Cells and Probes of package retrieval/sealed/server.
	SealedCells, Probes int
	// Seed is that of both.
	Seed uint64
}

// withDefaults returns the settings with what has a default here.
func (s Settings) withDefaults() Settings {
	s.Share, s.Base = cmp.Or(s.Share, 0.125), cmp.Or(s.Base, 0.0625)
	return s
}

// mostEncoded is the memory for answers that are encoded beforehand.
const mostEncoded = 640 << 20
