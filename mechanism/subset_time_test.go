package mechanism

import (
	"embed"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/sametime/inspect"
)

// subsetSource is the file as it was compiled, also where an overlay replaces it.
//
//go:embed subset.go
var subsetSource embed.FS

// Where a set is combined with the item, no branch, index or remainder depends on either, or
// on whether the item is in the set.
func TestSubsetByMasks(t *testing.T) {
	for _, problem := range inspect.Files(subsetSource, inspect.Functions{"subset.go": {
		"draw": {"item", "included"}, "fill": {"item", "included"}, "turn": {"set", "item"},
	}}) {
		t.Error(problem)
	}
}
