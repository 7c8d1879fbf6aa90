package client_test

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/audit"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// The audits ask for two of six cells at epsilon 1, for a record near centre 1 or
// for one near centre 4. A set that holds the one and not the other is e^epsilon
// times as likely for one record as for the other, so the promise is attained.
const auditEpsilon = 1

var audited = [2]struct {
	row  []float64
	cell uint32
}{{[]float64{1.2}, 1}, {[]float64{3.9}, 4}}

func auditClient(t *testing.T, ledger mechanism.Budget, memory client.Memory) *client.Cells {
	t.Helper()
	book := &wire.Codebook{Version: 1, Rows: 60, Size: 2, Length: 10, Dimension: 1, Ranking: 1, Centres: []float32{0, 1, 2, 3, 4, 5}, Anchors: []float32{0}}
	hash, err := book.Hash()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.NewCells(book, client.CellsSettings{Codebook: hash, Epsilon: auditEpsilon, Ledger: ledger, NewUnits: true, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// askAudited returns the answer for a record of a name, and its bytes.
func askAudited(t *testing.T, c *client.Cells, name string, row []float64) (*wire.CellsRequest, []byte) {
	t.Helper()
	id, err := client.ByName(name, row)
	if err != nil {
		t.Fatal(err)
	}
	request, err := c.Ask(id, row)
	if err != nil {
		t.Fatal(err)
	}
	message, err := request.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return request, message
}

// watched is what an attacker counts who sees some answers for each of many
// records, half of them near either centre.
type watched struct {
	records      int
	sets         [2]map[string]int // first answers, by centre
	included     int               // first answers with the record's own cell
	same         int               // records with all answers equal
	hits, alarms int
}

// watch asks through two clients with one memory. A hit is a record whose own cell
// was named more often than the other, by more than half of the answers; an alarm
// is one with the other cell named so. For one answer that is the best event.
func watch(t *testing.T, memory client.Memory, answers, records int) watched {
	t.Helper()
	clients := [2]*client.Cells{auditClient(t, mechanism.NoLedger, memory), auditClient(t, mechanism.NoLedger, memory)}
	w := watched{records: records, sets: [2]map[string]int{{}, {}}}
	for side, record := range audited {
		other := audited[1-side].cell
		for i := range records / 2 {
			var first []byte
			score, same := 0, true
			for a := range answers {
				request, message := askAudited(t, clients[a%2], fmt.Sprint("record ", side, i), record.row)
				own := slices.Contains(request.Cells, record.cell)
				if own {
					score++
				}
				if slices.Contains(request.Cells, other) {
					score--
				}
				if a == 0 {
					first = message
					w.sets[side][string(message)]++
					if own {
						w.included++
					}
				}
				same = same && bytes.Equal(message, first)
			}
			if same {
				w.same++
			}
			if 2*score > answers {
				w.hits++
			}
			if 2*score < -answers {
				w.alarms++
			}
		}
	}
	return w
}

// epsilon is that of both orders of the two records at once.
func (w *watched) epsilon() float64 { return audit.Epsilon(w.hits, w.alarms, w.records, 0, 1e-8) }

// Answers show epsilon, and not more. By chance it fails once in 1e7 runs: there are
// 60 bounds on chances of sets at 1e-9 each and 4 at 1e-8.
func TestAuditOfAsk(t *testing.T) {
	records, least := 70_000, 0.85
	if !longtest.Wanted() {
		records, least = 10_000, 0.6
	}
	w := watch(t, client.NewMemory(), 1, records)
	largest := math.Inf(-1)
	for z := range w.sets[0] {
		a, b := w.sets[0][z], w.sets[1][z]
		largest = max(largest, audit.Epsilon(a, b, records/2, 0, 1e-9), audit.Epsilon(b, a, records/2, 0, 1e-9))
	}
	if len(w.sets[0]) != 15 || largest > auditEpsilon {
		t.Errorf("%d sets show epsilon at least %.3f", len(w.sets[0]), largest)
	}
	// The lower bound is near the promise, or else the audit could not fail.
	got := w.epsilon()
	if got > auditEpsilon || got < least {
		t.Errorf("epsilon is at least %.3f, want %g to %d", got, least, auditEpsilon)
	}
	terms, err := auditClient(t, mechanism.NoLedger, client.NewMemory()).Terms()
	if err != nil {
		t.Fatal(err)
	}
	if low, high := audit.Interval(w.included, records, 1e-8); terms.Inclusion < low || terms.Inclusion > high {
		t.Errorf("the record's own cell is named with probability %.4f to %.4f, and %.4f by the terms", low, high, terms.Inclusion)
	}
	t.Logf("epsilon at least %.3f by one set, %.3f by all with one cell and not the other", largest, got)
}

// forgetful is a memory that keeps nothing.
type forgetful struct{}

func (forgetful) Recall(client.Key) ([]byte, error)                 { return nil, nil }
func (forgetful) Ready() error                                      { return nil }
func (forgetful) Keep(_ client.Key, message []byte) ([]byte, error) { return message, nil }
func (forgetful) Secret() (secret [32]byte, older bool, err error) {
	return secret, false, nil
}

// Five answers for one record show no more than one, because they are equal. A
// memory that forgets is found out.
func TestAuditOfMemory(t *testing.T) {
	const answers = 5
	records := 20_000
	if !longtest.Wanted() {
		records = 4000
	}
	w := watch(t, client.NewMemory(), answers, records)
	if w.same != records {
		t.Errorf("%d of %d records were answered in different ways", records-w.same, records)
	}
	if got := w.epsilon(); got > auditEpsilon {
		t.Errorf("epsilon is at least %.3f", got)
	}
	control := watch(t, forgetful{}, answers, records)
	if got := control.epsilon(); got <= auditEpsilon || control.same == records {
		t.Errorf("a memory that forgets shows no more than %.3f", got)
	}
	t.Logf("epsilon at least %.3f; %.3f without memory", w.epsilon(), control.epsilon())
}

// The same through a folder that is opened again for each answer, paid from budgets
// that have room for one release.
func TestAuditOfFolder(t *testing.T) {
	const answers, records = 5, 12
	folder := t.TempDir()
	path := filepath.Join(t.TempDir(), "ledger")
	if err := mechanism.CreateLedger(path, mechanism.Total{Kind: mechanism.Pure, Epsilon: auditEpsilon}); err != nil {
		t.Fatal(err)
	}
	ledger, err := mechanism.OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	kept := map[int][]byte{}
	for range answers {
		for i := range records {
			memory, err := client.OpenFolder(folder)
			if err != nil {
				t.Fatal(err)
			}
			_, message := askAudited(t, auditClient(t, ledger, memory), fmt.Sprint("record ", i), audited[i%2].row)
			if kept[i] == nil {
				kept[i] = message
			}
			if !bytes.Equal(message, kept[i]) {
				t.Errorf("record %d was answered in two ways", i)
			}
		}
	}
}
