package sametime

import (
	"embed"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/sametime/inspect"
)

// sources are the files as compiled, even if the tests are built with an overlay.
//
//go:embed *.go
var sources embed.FS

// No branch and no index depends on a number.
func TestNoIndexOrBranchDependsOnNumbers(t *testing.T) {
	for _, problem := range inspect.Files(sources, inspect.Functions{
		"numbers.go": {
			"Less": {"a", "b"}, "Equal": {"a", "b"}, "Choose": {"mask", "a", "b"}, "Larger": {"a", "b"}, "Clamp": {"x"}, "DropSmall": {"x"},
			"DropSubnormal": {"x"}, "NearestWhole": {"x"}, "Order": {"x"}, "Unorder": {"key"},
		},
		"sort.go": {"Sort": {"s"}, "exchange": {"a", "b"}, "Least": {"slots"}},
	}) {
		t.Error(problem)
	}
}
