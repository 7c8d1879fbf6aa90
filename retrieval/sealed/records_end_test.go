package sealed_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
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
	made, err := server.NewRecords(t.Context(), gallery, server.Slices(records), server.RecordsSettings{Rows: len(records), PerColumn: 2, Workers: workers})
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
	shared := server.NewShared(opened, server.SharedSettings{})
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

// What it takes to fetch a record without disclosing which. The last number bounds the chance
// that it is wrong.
func ExampleRecordFailure() {
	fmt.Println("records   bytes  a column  hint, once  up       down      a pass   wrong")
	for _, c := range []struct{ records, bytes, perColumn int }{
		{100_000, 512, 1},
		{500_000, 4096, 1},
		{1_000_000, 4096, 2},
		{10_000_000, 512, 20},
	} {
		m := wire.SealedRecords{Records: c.records, Length: c.bytes + sealed.RecordPrefix, PerColumn: c.perColumn}
		rows, columns := m.MatrixRows(), m.Columns()
		fmt.Printf("%-9d %-6d %-9d %5.1f MB    %4.2f MB  %4.1f KB  %5.2f GB %7.0e\n", c.records, c.bytes, c.perColumn,
			4*sealed.SecretWords*float64(rows)/1e6, 4*float64(columns)/1e6, 4*float64(rows)/1e3, float64(rows)*float64(columns)/1e9,
			sealed.RecordFailure(columns, m.Length))
	}
	// Output:
	// records   bytes  a column  hint, once  up       down      a pass   wrong
	// 100000    512    1           2.9 MB    0.40 MB   2.1 KB   0.05 GB  6e-225
	// 500000    4096   1          23.1 MB    2.00 MB  16.4 KB   2.05 GB   3e-42
	// 1000000   4096   2          46.2 MB    2.00 MB  32.8 KB   4.10 GB   3e-42
	// 10000000  512    20         57.9 MB    2.00 MB  41.1 KB   5.14 GB   4e-43
}
