package vec

import (
	"flag"
	"log"
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
)

// Write is the main function of a generator: it calls write for the level that a flag
// names, which must be one of levels, and prints the functions.
func Write(write func(level string), levels ...string) {
	level := flag.String("level", levels[0], strings.Join(levels, ", "))
	flag.Parse()
	if !slices.Contains(levels, *level) {
		log.Fatal("no level " + *level)
	}
	ConstraintExpr("gc,!noasm,!purego")
	write(*level)
	Generate()
}
