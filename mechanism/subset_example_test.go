package mechanism_test

import (
	"fmt"
	"log"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

func ExampleSubset_Select() {
	// One of 12 cells is reported in place of the record's own.
	cells := mechanism.Subset{Items: 12, Size: 1, Epsilon: 2}
	p, err := cells.Inclusion()
	if err != nil {
		log.Fatal(err)
	}
	record := mechanism.Unit{Kind: release.UnitRecord, Name: "holiday-042.jpg", New: true}
	selection, err := cells.Select(mechanism.NoLedger, record, 7)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d cell, the right one with probability %.3f\n", len(selection.Items), p)
	// Output:
	// 1 cell, the right one with probability 0.402
}
