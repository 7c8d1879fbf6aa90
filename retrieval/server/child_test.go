package server

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
)

// childGallery names the file that the other process opens.
const childGallery = "PM_TEST_GALLERY"

// Another process that opens the file has the codebook of the one that made it, and sends the
// same bytes.
func TestOpenInAnotherProcess(t *testing.T) {
	if path := os.Getenv(childGallery); path != "" {
		c := reopened(t, path)
		fmt.Printf("sends %x\n", sha256.Sum256(allBytes(t, c)))
		return
	}
	for _, settings := range []CellsSettings{{Epsilon: 4, Map: []byte("m")}, {Epsilon: 4, Encoded: -1}} {
		c := newCells(t, settings)
		want := fmt.Sprintf("sends %x\n", sha256.Sum256(allBytes(t, c)))
		output, err := childtest.Again(t, childGallery+"="+saved(t, c))
		if err != nil || !strings.Contains(output, want) {
			t.Errorf("want %s, got %s: %v", want, output, err)
		}
	}
}
