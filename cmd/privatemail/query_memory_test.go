package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
	sealedclient "github.com/seed-64e14a55/privatemail/retrieval/sealed/client"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// changing is a server of mode sealed whose every answer is of another version, each of which
// changes all of the hint.
func changing(t *testing.T, slots int) (address string, hint int64) {
	t.Helper()
	m := wire.SealedManifest{
		Rows: slots, Cells: 1, Length: slots, Dimension: galleryCols, Probes: 1, Scale: 1, MaxNorm: 100, NormUnit: 1,
		Centres: make([]float32, galleryCols), Norms: make([]int16, slots),
	}
	m.Kappa = sealed.Kappa(m.MaxNorm, m.Cells, m.Dimension)
	epoch, err := m.Hash()
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint32, slots*sealed.SecretWords)
	rows := make([]uint32, slots)
	for i := range rows {
		rows[i] = uint32(i)
	}
	asked := uint64(0)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body []byte
		var err error
		switch r.URL.Path {
		case "/v1/sealed/manifest":
			body, err = m.MarshalBinary()
		case "/v1/sealed/hint":
			body, err = (&wire.SealedHint{Epoch: epoch, Rows: slots, Words: words}).MarshalBinary()
		case "/v1/sealed/ids":
			body, err = (&wire.SealedIDs{Epoch: epoch, IDs: rows}).MarshalBinary()
		case "/v1/sealed/changes":
			since, _ := strconv.ParseUint(r.FormValue("since"), 10, 64)
			to, _ := strconv.ParseUint(r.FormValue("to"), 10, 64)
			body, err = (&wire.SealedChanges{Epoch: epoch, Since: since, Version: to, Rows: rows, Words: words}).MarshalBinary()
		default:
			asked++
			body, err = (&wire.SealedAnswer{Epoch: epoch, Version: asked, Count: 1, Rows: slots, Words: words[:slots]}).MarshalBinary()
		}
		if err != nil {
			t.Error(err)
		}
		w.Write(body)
	}))
	t.Cleanup(s.Close)
	return s.URL, m.HintBytes()
}

// A server cannot make a client hold more than -budget by versions, of which a client keeps some.
func TestQueryBoundsVersions(t *testing.T) {
	address, hint := changing(t, 200)
	p := newPlace(t, 3*sealedclient.KeptVersions)
	// The hint, the changes that are taken, and less than all versions.
	refuse(t, cli.Failed, p.sealed(address, "-budget", fmt.Sprint((2+3+sealedclient.KeptVersions-2)*hint)), "changes", "longer than there is room for", "-budget allows more")
	succeed(t, p.sealed(address, "-budget", fmt.Sprint((2+3+sealedclient.KeptVersions+2)*hint))...)
}

// All records that are fetched are in memory before the first one is written, and they are as long
// as the server says.
func TestFetchMemory(t *testing.T) {
	a := &asking{flags: &askFlags{k: 100}}
	a.x.Rows = 1000
	m := &wire.SealedRecords{Records: 1000, Length: sealed.MaxRecord, PerColumn: 1}
	if got, least := a.fetchMemory(m), 1000.*100*sealed.MaxRecord; got < least || got > least+(1<<24) {
		t.Errorf("%g bytes, want %g and some", got, least)
	}
}

// A version that has a change in a cell has a copy of that cell.
func TestVersionMemory(t *testing.T) {
	m := &wire.SealedManifest{Cells: 10, Length: 1 << 20, Dimension: 1, Probes: 1}
	few, many := &wire.SealedChanges{Names: []uint32{1}}, &wire.SealedChanges{Names: make([]uint32, 1000), Words: make([]uint32, 500)}
	if got, least := versionMemory(m, few), 6.*(1<<20)+versionPlaces(m); got != least {
		t.Errorf("one change: %g bytes, want %g", got, least)
	}
	if got, least := versionMemory(m, many), 60.*(1<<20)+2000+versionPlaces(m); got != least {
		t.Errorf("many changes: %g bytes, want %g", got, least)
	}
}
