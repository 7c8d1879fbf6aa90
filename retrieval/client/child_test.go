package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/ledgertest"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

const (
	childLedger  = "PRIVATEMAIL_TEST_CLIENT_LEDGER"
	childFolder  = "PRIVATEMAIL_TEST_CLIENT_FOLDER"
	childClients = "PRIVATEMAIL_TEST_CLIENT_CLIENTS"
	childRecords = 12
)

// beClientChild lets the test binary be another process: it asks for all records, through
// several clients at once, and prints what it would send.
func beClientChild() {
	if os.Getenv(childLedger) == "" {
		return
	}
	clients := 1
	if os.Getenv(childClients) == "many" {
		clients = 4
	}
	var wait sync.WaitGroup
	for range clients {
		c, err := childClient()
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		wait.Go(func() {
			for i := range childRecords {
				name := fmt.Sprint("record ", i)
				request, err := c.Ask(named(name), []float64{3, 0})
				if err != nil {
					fmt.Println(err)
					os.Exit(1)
				}
				os.Stdout.WriteString(fmt.Sprintf("%s: %v\n", name, request.Cells))
			}
		})
	}
	wait.Wait()
	os.Exit(0)
}

func childClient() (*Cells, error) {
	memory, err := OpenFolder(os.Getenv(childFolder))
	if err != nil {
		return nil, err
	}
	book := &wire.Codebook{Version: 1, Rows: 1000, Size: 4, Length: 3, Dimension: 2, Ranking: 1, Anchors: []float32{0}}
	for c := range 1000 {
		book.Centres = append(book.Centres, float32(c), 0)
	}
	return NewCells(book, CellsSettings{UnconfirmedCodebook: true, Epsilon: 0.01, Ledger: ledgertest.Borrowed{Path: os.Getenv(childLedger)}, NewUnits: true, Memory: memory})
}

func startChild(t *testing.T, ledger, folder, clients string) *childtest.Child {
	t.Helper()
	return childtest.Start(t, childLedger+"="+ledger, childFolder+"="+folder, childClients+"="+clients)
}

// sent is what was sent for each record. It must be the same each time.
type sent map[string]string

// take reads the next line of a child.
func (s sent) take(t *testing.T, c *childtest.Child) bool {
	t.Helper()
	if !c.Lines.Scan() {
		return false
	}
	name, cells, ok := strings.Cut(c.Lines.Text(), ": ")
	if !ok || !strings.HasPrefix(name, "record ") || !strings.HasPrefix(cells, "[") {
		t.Fatal(c.Lines.Text())
	}
	if s[name] != "" && s[name] != cells {
		t.Errorf("%s was sent as %s and as %s", name, s[name], cells)
	}
	s[name] = cells
	return true
}

// spends returns how often each record has paid.
func spends(t *testing.T, ledger string) map[string]int {
	t.Helper()
	s, err := mechanism.ReadLedger(ledger)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for i := range childRecords {
		name := fmt.Sprint("record ", i)
		b, err := s.Balance(mechanism.Unit{Kind: release.UnitRecord, Name: name})
		if err != nil && !errors.Is(err, mechanism.ErrUnknownUnit) {
			t.Fatal(err)
		}
		count[name] = int(b.Spent.Pure.Float()*100 + 0.5)
	}
	return count
}

// Several processes with several clients each ask for the same records at the same time:
// each record pays once, and everybody sends the same.
func TestAskInSeveralProcesses(t *testing.T) {
	ledger, folder := ledgerFile(t, 100), t.TempDir()
	var children []*childtest.Child
	for range 4 {
		children = append(children, startChild(t, ledger, folder, "many"))
	}
	all := sent{}
	lines := 0
	for _, c := range children {
		for all.take(t, c) {
			lines++
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	if lines != 4*4*childRecords || len(all) != childRecords {
		t.Errorf("%d lines about %d records", lines, len(all))
	}
	for name, n := range spends(t, ledger) {
		if n != 1 {
			t.Errorf("%s has paid %d times", name, n)
		}
	}
}

// Processes are killed while they ask. What was sent is sent again by all others, a kill
// costs no spend, and no lock is left.
func TestAskInKilledProcesses(t *testing.T) {
	rounds := 40
	if !longtest.Wanted() {
		rounds = 6
	}
	r := rand.New(rand.NewPCG(rand.Uint64(), 0))
	kills, records := 0, 0
	for records < rounds { // a few kills for each set of records, until all have paid
		ledger, folder := ledgerFile(t, 100), t.TempDir()
		all := sent{}
		for len(all) < childRecords {
			pair := []*childtest.Child{startChild(t, ledger, folder, ""), startChild(t, ledger, folder, "")}
			wait := r.IntN(4)
			for range wait {
				all.take(t, pair[0])
			}
			time.Sleep(time.Duration(r.IntN(5000)) * time.Microsecond)
			for _, c := range pair {
				c.Process.Kill()
				for all.take(t, c) {
				}
				if c.Wait() != nil { // it may have come to its end
					kills++
				}
			}
		}
		for name, n := range spends(t, ledger) {
			if n != 1 {
				t.Errorf("%s was sent, and has paid %d times", name, n)
			}
		}
		// Nobody waits for the dead, and all that is kept is served.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		f := openAgain(t, folder)
		for b := range 256 {
			unlock, err := f.Lock(ctx, Key{byte(b)})
			if err != nil {
				t.Fatalf("lock %d is held: %v", b, err)
			}
			unlock()
		}
		cancel()
		if err := f.Check(); err != nil {
			t.Error(err)
		}
		last := startChild(t, ledger, folder, "")
		for all.take(t, last) {
		}
		if err := last.Wait(); err != nil {
			t.Error(err)
		}
		records += childRecords
	}
	t.Logf("%d kills among %d records", kills, records)
}
