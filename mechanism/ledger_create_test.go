package mechanism

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// createLedgers makes ledgers in a folder until it is killed.
func createLedgers(folder string) {
	for i := 0; ; i++ {
		if err := CreateLedger(filepath.Join(folder, fmt.Sprint(i)), ledgerTotal); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Stdout.WriteString("created\n")
	}
}

// A process that is killed while it creates a ledger leaves a sound one or none, and
// files that do no harm.
func TestCreateLedgerOfAKilledProcess(t *testing.T) {
	rounds := 60
	if !longtest.Wanted() {
		rounds = 6
	}
	r := rand.New(rand.NewPCG(rand.Uint64(), 0))
	ledgers, left := 0, 0
	for range rounds {
		folder := t.TempDir()
		child := ledgerChild(t, "create", folder, "")
		lines := child.Lines
		created := 0
		for range 1 + r.IntN(3) {
			if lines.Scan() {
				created++
			}
		}
		time.Sleep(time.Duration(r.IntN(1500)) * time.Microsecond)
		child.Process.Kill()
		for lines.Scan() {
			if lines.Text() != "created" {
				t.Fatal(lines.Text())
			}
			created++
		}
		child.Wait() // returns that it was killed

		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".privatemail-new-") {
				left++
			}
		}
		for i := range created + 2 {
			path := filepath.Join(folder, fmt.Sprint(i))
			err := CreateLedger(path, ledgerTotal)
			if there := errors.Is(err, fs.ErrExist); err != nil && !there || i < created != there && i != created {
				t.Fatalf("ledger %d of %d: %v", i, created, err)
			}
			l, err := OpenLedger(path)
			if err != nil {
				t.Fatalf("ledger %d of %d: %v", i, created, err)
			}
			mustReserve(t, l, alice, i, oneUnit)
			l.Close()
			ledgers++
		}
	}
	t.Logf("%d ledgers after %d kills, %d temporary files left", ledgers, rounds, left)
}

// The error for a file that ends within its header does not say that its budget is
// untouched.
func TestCutOffLedger(t *testing.T) {
	path := newLedgerFile(t, ledgerTotal)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, len(data) - 1} {
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenLedger(path); !errors.Is(err, ErrLedger) || !strings.Contains(err.Error(), "newest copy") || strings.Contains(err.Error(), "nothing was spent") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
