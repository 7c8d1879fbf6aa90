//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
)

// TestKilledQuery kills the command at 50 moments (10 in short runs) spread over its run.
// What was sent for a record is sent by every later run; each set was paid for, no spend is
// lost or given back, and a kill costs none; files are whole, and the next run needs no repair.
func TestKilledQuery(t *testing.T) {
	g := startService(t)
	const records = 25
	p := newPlace(t, records)
	start := func() *exec.Cmd {
		cmd := childtest.Command(t, []string{asCommand + "=1"}, p.cells(g.address, "-epsilon", "0.01", "-out", p.out)...)
		cmd.Stderr = new(bytes.Buffer)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	// A run with files of its own, to know how long one takes.
	kept := p
	p = newPlace(t, records)
	began := time.Now()
	if cmd := start(); cmd.Wait() != nil {
		t.Fatalf("query: %s", cmd.Stderr)
	}
	span := 1.3 * float64(time.Since(began))
	g.tap.Wait()
	g.sent(t)
	p = kept

	kills := 50
	if !longtest.Wanted() {
		kills = 10
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var sets [][]byte // that were sent, in the order of the records
	spends, killed, since := 0, 0, 0
	check := func(i int) {
		t.Helper()
		s := ledgerAt(t, p.ledger)
		if len(s.Entries) < spends {
			t.Fatalf("after kill %d: %d spends, %d before", i, len(s.Entries), spends)
		}
		spends = len(s.Entries)
		g.tap.Wait()
		// On a busy machine a run may have several connections, one after the other: a transport does
		// not use one again whose request took long to be written. One that is taken late, of a run
		// before, has no body.
		var bodies [][]byte
		var connections []string
		for _, came := range g.tap.Came() {
			paths, more := requestsIn(t, came)
			bodies = append(bodies, more...)
			connections = append(connections, fmt.Sprintf("%q with %d sets", paths, len(more)))
		}
		for r, b := range bodies {
			if r < len(sets) && !bytes.Equal(b, sets[r]) {
				at := slices.IndexFunc(sets, func(set []byte) bool { return bytes.Equal(b, set) })
				t.Fatalf("after kill %d: record %d of %d was sent another set, which is that of record %d; connections: %q", i, r, len(sets), at, connections)
			}
		}
		if len(bodies) > len(sets) {
			sets = bodies
		}
		g.tap.Forget()
		if spends < len(sets) {
			t.Fatalf("after kill %d: %d sets were sent and %d paid for", i, len(sets), spends)
		}
		if files.Exists(p.memory) {
			f, err := client.OpenFolder(p.memory)
			if err == nil {
				err = f.Check()
			}
			if err != nil {
				t.Fatalf("after kill %d: %v", i, err)
			}
		}
		if out, err := formats.ReadMatrix(p.out); err == nil {
			if out.Rows != records {
				t.Fatalf("after kill %d: half a file", i)
			}
			out.Close()
		} else if files.Exists(p.out) {
			t.Fatalf("after kill %d: %v", i, err)
		}
	}
	// finish runs to the end, without a word about anything that was left.
	finish := func() {
		t.Helper()
		cmd := start()
		if err := cmd.Wait(); err != nil || bytes.Contains(cmd.Stderr.(*bytes.Buffer).Bytes(), []byte("cache")) {
			t.Fatalf("%v: %s", err, cmd.Stderr)
		}
		check(killed)
		if len(sets) != records || spends != records {
			t.Fatalf("%d sets, %d spends after %d kills", len(sets), spends, since)
		}
		wantNoNewFiles(t, p)
	}
	for i := 0; killed < kills && i < 20*kills; i++ { // on a busy machine kills may come late
		cmd := start()
		time.Sleep(time.Duration(rng.Float64() * span))
		cmd.Process.Kill()
		if cmd.Wait() == nil {
			span *= 0.97
		} else {
			killed++
			since++
		}
		check(i)
		if len(sets) == records { // new files, so that there is something to lose
			finish()
			p = newPlace(t, records)
			sets, spends, since = nil, 0, 0
		} else if rng.IntN(4) == 0 {
			if err := os.RemoveAll(p.cache); err != nil {
				t.Fatal(err)
			}
		}
	}
	finish()
	t.Logf("%d runs killed", killed)
	if killed < kills {
		t.Errorf("%d runs killed, want %d", killed, kills)
	}
}

// wantNoNewFiles wants nothing but what is complete in the cache, the memory and where the answers
// are.
func wantNoNewFiles(t *testing.T, p place) {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(p.cache, "*.part"))
	if err != nil || parts != nil {
		t.Errorf("%q are left, %v", parts, err)
	}
	for _, folder := range []string{p.cache, p.memory, filepath.Dir(p.out)} {
		left, err := filepath.Glob(filepath.Join(folder, "*.tmp"))
		hidden, _ := filepath.Glob(filepath.Join(folder, ".*.tmp"))
		if err != nil || left != nil || hidden != nil {
			t.Errorf("%q and %q are left, %v", left, hidden, err)
		}
	}
}
