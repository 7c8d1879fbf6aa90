package main

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Messages of mode sealed are explained, and nothing of a query is.
func TestShowSealedMessages(t *testing.T) {
	x := blas64.General{Rows: 8, Cols: 2, Stride: 2, Data: []float64{1, 0, 0, 1, 1, 1, 2, 1, 1, 2, 0, 2, 2, 0, 2, 2}}
	g, err := sealedserver.New(t.Context(), x, sealedserver.Settings{Cells: 2, Probes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Insert([]float64{1, 1}, 8); err != nil {
		t.Fatal(err)
	}
	changes, err := g.Changes(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m           interface{ MarshalBinary() ([]byte, error) }
		kind, words string
	}{
		{g.Manifest(), "sealed-manifest", "8 of 2 columns|2 of 5 slots"},
		{g.Hint(), "sealed-hint", "version       1|rows          5"},
		{g.IDs(), "sealed-ids", "slots         10"},
		{changes, "sealed-changes", "from 0 to 1|slots         1"},
		{&wire.SealedRequest{Count: 1, Columns: 4, Width: 3, Bytes: make([]byte, 12)}, "sealed-request", "1 of 4 words of 3 bytes"},
		{&wire.SealedAnswer{Version: 3, Count: 1, Rows: 5, Words: make([]uint32, 5)}, "sealed-answer", "version       3|5 for each of 1"},
		{&wire.SealedRecords{Records: 9, Length: 7, PerColumn: 1}, "sealed-records-manifest", "9, padded to 7 bytes"},
	} {
		stdout, _ := succeed(t, "show", frame(t, c.m))
		for word := range strings.SplitSeq("kind          "+c.kind+": |epoch|"+c.words, "|") {
			if !strings.Contains(stdout, word) {
				t.Errorf("%s: no %q in\n%s", c.kind, word, stdout)
			}
		}
	}
}
