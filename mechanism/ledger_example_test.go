package mechanism_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

func ExampleLedger() {
	folder, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)

	// Done once: the budget of each record for all time.
	path := filepath.Join(folder, "privacy.ledger")
	total := mechanism.Total{Kind: mechanism.GDP, Epsilon: 1, Delta: 1e-6}
	if err := mechanism.CreateLedger(path, total); err != nil {
		log.Fatal(err)
	}

	ledger, err := mechanism.OpenLedger(path)
	if err != nil {
		log.Fatal(err)
	}
	defer ledger.Close()
	record := mechanism.Unit{Kind: release.UnitRecord, Name: "holiday-042.jpg", New: true}
	spend := mechanism.Spend{Epsilon: 0.6, Delta: 1e-6, Protects: mechanism.AnyRow(sensitivity.ReplaceOne, 1)}
	for id := byte(1); ; id++ {
		receipt, err := ledger.Reserve(record, [16]byte{id}, spend)
		if errors.Is(err, mechanism.ErrBudgetExceeded) {
			fmt.Println(err)
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		epsilon, err := ledger.EpsilonAt(record, total.Delta)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("spend %d granted, epsilon is now %.3f\n", receipt.Sequence(), epsilon)
	}
	// Output:
	// spend 1 granted, epsilon is now 0.600
	// spend 2 granted, epsilon is now 0.870
	// mechanism: privacy budget of the record exceeded: asked rho 0.0108249 (alone epsilon 0.6), remaining rho 0.00636478 (alone epsilon 0.451527) of epsilon 1 at delta 1e-06 (gdp)
}
