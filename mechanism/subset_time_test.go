package mechanism

import (
	"embed"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/sametime/inspect"
)

// subsetSource is the file as it was compiled, also where the tests are built over another one.
//
//go:embed subset.go
var subsetSource embed.FS

// Where a set meets the item, no branch, no index and no remainder depends on either, and none
// depends on whether the item is in the set.
func TestSubsetByMasks(t *testing.T) {
	for _, problem := range inspect.Files(subsetSource, inspect.Functions{"subset.go": {
		"draw": {"item", "included"}, "fill": {"item", "included"}, "turn": {"set", "item"},
	}}) {
		t.Error(problem)
	}
}
