//go:build unix

package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// TestKilledPrivatize kills the command at 200 moments (20 in short runs, such as
// those of the race detector) spread over its run. A
// release that was written was paid for, nothing that was paid for is forgotten,
// and the ledger opens after every kill.
func TestKilledPrivatize(t *testing.T) {
	temp, features := t.TempDir(), toy(t)
	ledger := filepath.Join(temp, "a.ledger")
	succeed(t, "budget", "create", ledger, "-epsilon", "100", "-delta", "0.1")
	start := func(out string) *exec.Cmd {
		cmd := childtest.Command(t, []string{asCommand + "=1"}, private(features, ledger, out, "-epsilon", "0.1", "-delta", "1e-9")...)
		cmd.Stderr = new(bytes.Buffer)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	// How long a whole run takes, loading the program included.
	began := time.Now()
	if cmd := start(filepath.Join(temp, "r")); cmd.Wait() != nil {
		t.Fatalf("privatize: %s", cmd.Stderr)
	}
	whole := time.Since(began)
	// The kills follow the pace of the machine: later after a run that was cut
	// off before its spend, earlier after one that came to its end.
	span := 1.5 * float64(whole)

	rng := rand.New(rand.NewPCG(1, 2))
	spends, releases, killed, unfinished := 1, 1, 0, 0
	kills := 200
	if !longtest.Wanted() {
		kills = 20
	}
	few := func() bool { return killed < kills/4 || releases < kills/40 }
	for i := 0; i < kills || few() && i < 20*kills; i++ { // on a busy machine kills may come late
		out := filepath.Join(temp, strconv.Itoa(i))
		cmd := start(out)
		time.Sleep(time.Duration(rng.Float64() * span))
		cmd.Process.Kill()
		if cmd.Wait() != nil {
			killed++
		} else {
			span *= 0.96
		}
		s, err := mechanism.ReadLedger(ledger)
		if err != nil {
			t.Fatalf("after kill %d: %v", i, err)
		}
		now := len(s.Entries)
		written := now > 0 && s.Entries[now-1].Committed
		if now < spends || now > spends+1 {
			t.Fatalf("after kill %d: %d spends, %d before", i, now, spends)
		}
		if r, err := files.ReadRelease(out); err == nil {
			releases++
			if now != spends+1 || !written || r.Ledger != s.Entries[now-1].Sequence || r.ID != s.Entries[now-1].ReleaseID {
				t.Fatalf("after kill %d: a release that the ledger does not know", i)
			}
		} else if !os.IsNotExist(err) && files.Exists(out) {
			t.Fatalf("after kill %d: half a release: %v", i, err)
		}
		if now > spends && !files.Exists(out) {
			unfinished++
		}
		if now == spends {
			span = min(1.03*span, float64(20*time.Second))
		}
		spends = now
	}
	t.Logf("%d runs killed, %d spends, %d releases, %d paid without a release; a run takes %v", killed, spends, releases, unfinished, whole)
	if few() {
		t.Errorf("%d of %d runs killed, %d releases: the kills do not spread over the run", killed, kills, releases)
	}
	if balance := spent(t, ledger); balance < float64(spends)*cost(t, 0.1, 1e-9)*(1-1e-9) {
		t.Errorf("spent %g for %d spends", balance, spends)
	}
}

// spent is what the only unit has spent.
func spent(t *testing.T, path string) float64 {
	t.Helper()
	s, err := mechanism.ReadLedger(path)
	if err != nil || len(s.Balances) != 1 {
		t.Fatalf("%v, %v", s, err)
	}
	return s.Balances[0].Spent.Rho.Float()
}

func cost(t *testing.T, epsilon, delta float64) float64 {
	t.Helper()
	c, err := mechanism.Analytic.Multiplier(epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	return 1 / (2 * c * c)
}
