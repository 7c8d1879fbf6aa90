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
	m.Kappa = 214746825 // the largest scale for these numbers: a client refuses another
	epoch, err := m.Hash()
	if err != nil {
		t.Fatal(err)
	}
	sentences := make([]uint32, slots*sealed.SecretWords)
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
			body, err = (&wire.SealedHint{Epoch: epoch, Rows: slots, Words: sentences}).MarshalBinary()
		case "/v1/sealed/ids":
			body, err = (&wire.SealedIDs{Epoch: epoch, IDs: rows}).MarshalBinary()
		case "/v1/sealed/changes":
			since, _ := strconv.ParseUint(r.FormValue("since"), 10, 64)
			to, _ := strconv.ParseUint(r.FormValue("to"), 10, 64)
			body, err = (&wire.SealedChanges{Epoch: epoch, Since: since, Version: to, Rows: rows, Words: sentences}).MarshalBinary()
		default:
			asked++
			body, err = (&wire.SealedAnswer{Epoch: epoch, Version: asked, Count: 1, Rows: slots, Words: sentences[:slots]}).MarshalBinary()
		}
		if err != nil {
			t.Error(err)
		}
		w.Write(body)
	}))
	t.Cleanup(s.Close)
	return s.URL, m.HintBytes()
}

// A server cannot make a client hold more than -max-memory by versions, of which a client keeps some.
func TestQueryBoundsVersions(t *testing.T) {
	address, hint := changing(t, 200)
	p := newPlace(t, 3*sealedclient.KeptVersions)
	// The hint, the changes that are taken, and less than all versions.
	refuse(t, cli.Failed, p.sealed(address, "-max-memory", fmt.Sprint((2+3+sealedclient.KeptVersions-2)*hint)), "changes", "longer than there is room for", "-max-memory allows more")
	succeed(t, p.sealed(address, "-max-memory", fmt.Sprint((2+3+sealedclient.KeptVersions+2)*hint))...)
}
