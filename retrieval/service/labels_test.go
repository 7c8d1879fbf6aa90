package service

import (
	"encoding/hex"
	"errors"
	"net/http"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A gallery has labels where they are published, one for each of its rows, and all of them go with every
// version by its codebook.
func TestServeLabels(t *testing.T) {
	s, web := start(t, Settings{})
	get := func(query string) reply { return send(t, http.MethodGet, web.URL+"/v1/labels"+query, nil) }
	cells := newCells(t, 1)
	rows := cells.Codebook().Rows
	for name, labels := range map[string]*wire.Labels{
		"few": {Labels: make([]int32, rows-1)}, "many": {Labels: make([]int32, rows+1)},
		"no name": {Labels: make([]int32, rows), Names: []string{}}, "none": {},
	} {
		if err := s.Publish(Offer{Cells: cells, Labels: labels}); !errors.Is(err, ErrGallery) {
			t.Errorf("%s: %v", name, err)
		}
	}
	labels := &wire.Labels{Labels: make([]int32, rows), Names: []string{"owl"}}
	labels.Labels[2] = -1
	if err := s.Publish(Offer{Cells: cells, Labels: labels}); err != nil {
		t.Fatal(err)
	}
	if got := get(""); got.status != http.StatusOK || string(got.body[:19]) != `{"labels":[0,0,-1,0` {
		t.Errorf("%d %.40s", got.status, got.body)
	}
	if err := s.Publish(Offer{Cells: newCells(t, 2)}); err != nil {
		t.Fatal(err)
	}
	if got := get(""); got.status != http.StatusNotFound {
		t.Errorf("a version without labels: %d", got.status)
	}
	hash, err := cells.Codebook().Hash()
	if err != nil {
		t.Fatal(err)
	}
	if got := get("?codebook=" + hex.EncodeToString(hash[:])); got.status != http.StatusOK {
		t.Errorf("the version before: %d", got.status)
	}
}
