package vec

import (
	"flag"
	"log"
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
)

// Write is what a generator does: it asks write for the functions of the level that a flag
// names, one of those given, and prints them.
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
