package serve

import (
	"flag"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// cellsFlags say how a MODEL is cut into cells.
type cellsFlags struct {
	epsilon, share, base float64
	cells                int
	partition            bool
	seed                 uint64
	gallery              string
	rebuild              bool
}

// modelFlagNames are the flags that go with a MODEL alone: a GALLERY is made already.
var modelFlagNames = []string{"epsilon", "share", "base", "cells", "partition", "seed", "gallery", "rebuild", "sealed-cells", "probes"}

// cellsFlagNames are the flags that need -epsilon.
var cellsFlagNames = []string{"share", "base", "cells", "partition"}

func (f *cellsFlags) Define(fs *flag.FlagSet) {
	settings.NumberVar(fs, &f.epsilon, "epsilon", 0, settings.Positive(), "make cells for clients that spend `E` on a query\na MODEL needs this or -sealed")
	settings.NumberVar(fs, &f.share, "share", 0.125, settings.Fraction(), "an answer has the share `S` of the gallery, at most 0.5")
	settings.NumberVar(fs, &f.base, "base", 0.0625, settings.Fraction(), "clients take the share `S` of the gallery once, without a query")
	cli.CountVar(fs, &f.cells, "cells", 0, "make `M` cells (default: as -epsilon and -share say)")
	fs.BoolVar(&f.partition, "partition", false, "put each row in one list only\nbetter for an epsilon up to 3")
	settings.SeedVar(fs, &f.seed, "seed `Q` of the first centres and of the base")
	fs.StringVar(&f.gallery, "gallery", "", "keep the gallery of a MODEL in `FILE`\nWhat -sealed and -records make is next to it, with .sealed and .records (default: the name of the model with .gallery)")
	fs.BoolVar(&f.rebuild, "rebuild", false, "replace a -gallery of another model or other settings\nand its .sealed file")
}
