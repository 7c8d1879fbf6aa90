package sealed_test

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/recordtest"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/internal/passes"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/client"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// throughBytes returns what is left of a message on the other side.
func throughBytes[M any, P interface {
	*M
	MarshalBinary() ([]byte, error)
	UnmarshalBinary([]byte) error
}](t *testing.T, m P) P {
	t.Helper()
	frame, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	out := P(new(M))
	if err := out.UnmarshalBinary(frame); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFetchRecords has both halves, with messages as bytes between them, and records of a file
// that was opened. Requests share passes.
func TestFetchRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	records := make([][]byte, 5000)
	for i := range records {
		records[i] = make([]byte, r.IntN(25))
		for j := range records[i] {
			records[i][j] = byte(r.Uint32())
		}
	}
	workers := par.New(2)
	defer workers.Close()
	gallery := wire.Hash{8}
	made, err := server.NewRecords(t.Context(), gallery, recordtest.InMemory(records), server.RecordsSettings{Rows: len(records), PerColumn: 2, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.records")
	if err := made.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	opened, err := server.OpenRecords(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	opened.SetWorkers(workers)
	fetcher, err := client.NewRecords(throughBytes(t, opened.Manifest()), throughBytes(t, opened.Hint()), client.RecordsSettings{Gallery: gallery, Epoch: made.Epoch()})
	if err != nil {
		t.Fatal(err)
	}
	var requests []*wire.SealedRequest
	var fetchings []*client.Fetching
	asked := [][]uint32{{0, 4999, wire.Padding}, {2500, 2501}}
	for _, ids := range asked {
		f, err := fetcher.Fetch(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		fetchings, requests = append(fetchings, f), append(requests, throughBytes(t, f.Request()))
	}
	answers, err := opened.Answer(t.Context(), requests...)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range fetchings {
		got, err := fetcher.Open(f, throughBytes(t, answers[i]))
		if err != nil {
			t.Fatal(err)
		}
		for j, id := range asked[i] {
			if id != wire.Padding && !bytes.Equal(got[j], records[id]) {
				t.Errorf("fetch of record %d gave another one", id)
			}
		}
	}
	shared := passes.New(opened, passes.Settings{})
	defer shared.Close()
	var wait sync.WaitGroup
	for i := range uint32(4) {
		wait.Go(func() {
			f, err := fetcher.Fetch(t.Context(), []uint32{100 * i})
			if err != nil {
				t.Error(err)
				return
			}
			answer, err := shared.Answer(t.Context(), f.Request())
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := fetcher.Open(f, answer); err != nil || !bytes.Equal(got[0], records[100*i]) {
				t.Errorf("another record, %v", err)
			}
		})
	}
	wait.Wait()
}
