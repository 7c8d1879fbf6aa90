package client_test

import (
	"encoding/hex"
	"fmt"
	"log"
	"slices"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A client of mode cells asks twice for one record: the same request goes out, and
// nothing is spent again. Package retrieval has both sides together.
func ExampleCells() {
	// What the server published: four cells, of which a request names one.
	book := &wire.Codebook{Version: 1, Rows: 40, Size: 1, Length: 10, Dimension: 2, Ranking: 2, Centres: []float32{1, 0, 0, 1, -1, 0, 0, -1}, Anchors: []float32{0, 0}}
	// Its hash, from a second path: had the server sent this client a codebook of its
	// own, it would have another one.
	var hash wire.Hash
	if _, err := hex.Decode(hash[:], []byte("8d246fb20c4d0f970b51fba6cd7b749e5f923d5390edcf24b5b5f9e921033c15")); err != nil {
		log.Fatal(err)
	}
	c, err := client.NewCells(book, client.CellsSettings{
		Codebook: hash, Epsilon: 4, Ledger: mechanism.NoLedger, Memory: client.NewMemory(),
	})
	if err != nil {
		log.Fatal(err)
	}
	terms, err := c.Terms()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the codebook is confirmed:", terms.Confirmed)
	fmt.Printf("%d of %d cells is named, the record's own with probability %.2f\n", terms.Size, terms.Cells, terms.Inclusion)

	row := []float64{0.6, 0.8}
	record, err := client.ByContent(row)
	if err != nil {
		log.Fatal(err)
	}
	request, err := c.Ask(record, row)
	if err != nil {
		log.Fatal(err)
	}
	again, err := c.Ask(record, row)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the same request again:", slices.Equal(again.Cells, request.Cells))
	// Output:
	// the codebook is confirmed: true
	// 1 of 4 cells is named, the record's own with probability 0.95
	// the same request again: true
}
