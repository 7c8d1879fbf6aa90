package modes_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/baseline"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/modes"
)

// Two modes that hide nothing, measured on handwritten digits under one seed.
func Example() {
	x, y := digits.Load()
	data := []*evaluate.Data{{Name: "digits", Features: x, Labels: y, Division: evaluate.DivisionOf("digits", x.Rows)}}
	chosen := []evaluate.Mode{baseline.Prepared(), modes.Supervised()}
	cells, err := evaluate.Grid{Data: data, Modes: chosen, Seeds: []uint64{1}}.Cells()
	if err != nil {
		log.Fatal(err)
	}
	sweep := &evaluate.Sweep{Data: data, Modes: chosen}
	records, err := sweep.Run(context.Background(), cells)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range evaluate.Summarize(records) {
		fmt.Printf("%s: P@8 %.2f\n", s.Mode, s.Figures[evaluate.PrecisionAt8].Mean)
	}
	// Output:
	// prepared: P@8 0.94
	// supervised: P@8 0.95
}
