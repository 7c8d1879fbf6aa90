package session_test

import (
	"fmt"
	"net/http"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/recordtest"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
	"github.com/seed-64e14a55/privatemail/retrieval/session"
)

const (
	columns   = 6
	publicMap = `{"dim":6,"mean":[0.1,0.2,0.1,0.2,0.1,0.2]}`
)

// everyMode returns settings for a run in each mode, without a ledger.
func everyMode() map[session.Mode]session.Settings {
	all := map[session.Mode]session.Settings{
		session.Sealed: {Fetch: true},
		session.Cells:  {Epsilon: 100, Uncounted: true, Forgotten: true},
		session.All:    {},
	}
	for mode, s := range all {
		s.Mode, s.K, s.Unconfirmed = mode, 5, true
		all[mode] = s
	}
	return all
}

// serviceOf returns a service of some rows that offers a mode. In mode sealed the record of a row is
// "record 0" and so on.
func serviceOf(t *testing.T, mode session.Mode) http.Handler {
	t.Helper()
	n := 400
	if mode == session.Sealed {
		n = 120
	}
	rows := wideOf(t, n, 7)
	offer := service.Offer{Name: "birds"}
	var err error
	if mode == session.Sealed {
		if offer.Sealed, err = sealedserver.New(t.Context(), rows, sealedserver.Settings{Cells: 6, Probes: 2, Map: []byte(publicMap)}); err != nil {
			t.Fatal(err)
		}
		var lines [][]byte
		for i := range n {
			lines = append(lines, fmt.Appendf(nil, "record %d", i))
		}
		offer.Records, err = sealedserver.NewRecords(t.Context(), offer.Sealed.Epoch(), recordtest.InMemory(lines), sealedserver.RecordsSettings{})
	} else {
		offer.Map = []byte(publicMap)
		offer.Cells, err = server.NewCells(t.Context(), rows, rows, server.CellsSettings{Epsilon: 4, Version: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := service.New(service.Settings{Drain: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Publish(offer); err != nil {
		t.Fatal(err)
	}
	return s.Public()
}

// rowsOf returns rows to ask for.
func rowsOf(t *testing.T, n int) session.Rows {
	t.Helper()
	return session.Rows{X: uniform(t, n, 99), File: "rows.npy"}
}

func uniform(t *testing.T, n int, seed uint64) blas32.General {
	t.Helper()
	x, err := synth.Uniform(n, columns, seed)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func wideOf(t *testing.T, n int, seed uint64) blas64.General {
	t.Helper()
	x := uniform(t, n, seed)
	rows := blas64.General{Rows: n, Cols: x.Cols, Stride: x.Cols, Data: make([]float64, len(x.Data))}
	for i, v := range x.Data {
		rows.Data[i] = float64(v)
	}
	return rows
}
