package wire

import (
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// Entries count the anchors of each turn, and nothing beyond the last counts.
func TestPlace(t *testing.T) {
	book := testCodebook()
	for entry := range 4 * limits.Turns {
		anchor, turn := book.Place(uint16(entry))
		if want := book.Anchors[3*(entry%4):][:3]; !slices.Equal(anchor, want) || turn != entry/4 {
			t.Errorf("entry %d: %v at turn %d", entry, anchor, turn)
		}
	}
	for _, entry := range []uint16{4 * limits.Turns, 65535} {
		if anchor, _ := book.Place(entry); anchor != nil {
			t.Errorf("entry %d: %v", entry, anchor)
		}
	}
	if anchor, _ := new(Codebook).Place(0); anchor != nil {
		t.Errorf("no codebook: %v", anchor)
	}
	if u := book.Unit(limits.Steps); u != 0.5 || book.Unit(0) != 0 {
		t.Errorf("unit %g", u)
	}
}
