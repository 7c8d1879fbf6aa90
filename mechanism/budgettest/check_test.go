package budgettest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/ledgertest"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

func TestNoLedger(t *testing.T) {
	if err := Check(Settings{New: func(mechanism.Total) (mechanism.Budget, error) { return mechanism.NoLedger, nil }}); err != nil {
		t.Error(err)
	}
}

// A ledger after a kill is its file, which is copied because the first one is still open.
func TestLedger(t *testing.T) {
	paths := map[mechanism.Budget]string{}
	open := func(path string) (mechanism.Budget, error) {
		l, err := mechanism.OpenLedger(path)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { l.Close() })
		paths[l] = path
		return l, nil
	}
	err := Check(Settings{
		New: func(total mechanism.Total) (mechanism.Budget, error) {
			path := filepath.Join(t.TempDir(), "ledger")
			if err := mechanism.CreateLedger(path, total); err != nil {
				return nil, err
			}
			return open(path)
		},
		Reopen: func(budget mechanism.Budget) (mechanism.Budget, error) {
			data, err := os.ReadFile(paths[budget])
			if err != nil {
				return nil, err
			}
			path := filepath.Join(t.TempDir(), "ledger")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				return nil, err
			}
			return open(path)
		},
	})
	if err != nil {
		t.Error(err)
	}
}

func TestBorrowedLedger(t *testing.T) {
	same := func(budget mechanism.Budget) (mechanism.Budget, error) {
		return ledgertest.Borrowed{Path: budget.(ledgertest.Borrowed).Path}, nil
	}
	err := Check(Settings{
		New: func(total mechanism.Total) (mechanism.Budget, error) {
			path := filepath.Join(t.TempDir(), "ledger")
			return ledgertest.Borrowed{Path: path}, mechanism.CreateLedger(path, total)
		},
		Reopen: same, Share: same, Kinds: []mechanism.Kind{mechanism.Mixed},
	})
	if err != nil {
		t.Error(err)
	}
}

func checkTable(fault string, kinds ...mechanism.Kind) error {
	return Check(Settings{
		New: func(total mechanism.Total) (mechanism.Budget, error) { return newTable(total, fault), nil },
		Reopen: func(budget mechanism.Budget) (mechanism.Budget, error) {
			return budget.(*table).reopened(), nil
		},
		Share: func(budget mechanism.Budget) (mechanism.Budget, error) {
			return budget.(*table).shared(), nil
		},
		Kinds: kinds,
	})
}

func TestTable(t *testing.T) {
	if err := checkTable(""); err != nil {
		t.Error(err)
	}
}

// Each fault is found, under the promise that it breaks.
func TestFaultsAreFound(t *testing.T) {
	for fault, promise := range map[string]string{
		"overspends":                              "what fits is granted",
		"refuses the last":                        "what fits is granted",
		"gives back on a refusal":                 "what fits is granted",
		"kinds share":                             "units do not share",
		"units share":                             "units do not share",
		"receipts without a number":               "receipts are told apart",
		"receipts with one number":                "receipts are told apart",
		"receipts for another release":            "receipts are told apart",
		"one price":                               "spends of all sizes",
		"ids pay twice":                           "a release id pays once",
		"ids pay twice for another spend":         "a release id pays once",
		"numbers decided before they are written": "callers at the same time",
		"forgets crowds":                          "callers at the same time",
		"forgets ids":                             "a release id pays once",
		"every unit is known":                     "a new unit is said to be new",
		"any relation will do":                    "another relation is said to be meant",
		"notes no relation":                       "another relation is said to be meant",
		"notes the first relation":                "another relation is said to be meant",
		"notes the last relation":                 "another relation is said to be meant",
		"takes bad input":                         "bad input is refused",
		"names units":                             "what fits is granted",
		"gives back on a commit":                  "nothing is given back",
		"gives back on a foreign receipt":         "nothing is given back",
		"gives back on bad input":                 "nothing is given back",
		"commits twice":                           "a spend is committed once",
		"takes foreign receipts":                  "a spend is committed once",
		"everything is paid":                      "Paid tells what was paid",
		"paid when committed":                     "Paid tells what was paid",
		"number zero":                             "the number of the ledger",
		"number shared":                           "the number of the ledger",
		"number drawn anew":                       "the number of the ledger",
		"forgets its number":                      "the number of the ledger",
		"decides before it writes":                "callers at the same time",
		"ids decided before they are written":     "one release id at the same time",
		"ways have their own number":              "a second way",
		"ways know their own spends":              "a second way",
		"ways count receipts apart":               "a second way",
		"ways commit apart":                       "a second way",
		"forgets":                                 "spends are durable",
		"forgets what is not committed":           "spends are durable",
		"covers everything":                       "Covers agrees",
		"covers at a price":                       "Covers agrees",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			err := checkTable(fault, mechanism.Pure)
			if err == nil || !strings.Contains(err.Error(), promise) {
				t.Errorf("want a word about %q: %v", promise, err)
			}
		})
	}
}

// So is a price that leaves out a part of a spend.
func TestFreePartsAreFound(t *testing.T) {
	for _, fault := range []string{"noise is free", "labels are free"} {
		err := checkTable(fault, mechanism.Mixed)
		if err == nil || !strings.Contains(err.Error(), "spends of all sizes") {
			t.Errorf("%s: %v", fault, err)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	table := func(total mechanism.Total) (mechanism.Budget, error) { return newTable(total, ""), nil }
	for name, s := range map[string]Settings{
		"nothing":     {},
		"no reopen":   {New: table},
		"no kind":     {New: table, Kinds: []mechanism.Kind{17}},
		"no budget":   {New: func(mechanism.Total) (mechanism.Budget, error) { return nil, errors.New("none") }},
		"not opened":  {New: table, Reopen: func(mechanism.Budget) (mechanism.Budget, error) { return nil, errors.New("none") }},
		"nil":         {New: func(mechanism.Total) (mechanism.Budget, error) { return nil, nil }, Reopen: func(b mechanism.Budget) (mechanism.Budget, error) { return b, nil }},
		"nil again":   {New: table, Reopen: func(mechanism.Budget) (mechanism.Budget, error) { return nil, nil }},
		"nil shared":  {New: table, Reopen: func(b mechanism.Budget) (mechanism.Budget, error) { return b, nil }, Share: func(mechanism.Budget) (mechanism.Budget, error) { return nil, nil }},
		"cannot part": {New: table, Reopen: func(b mechanism.Budget) (mechanism.Budget, error) { return b, nil }, Share: func(mechanism.Budget) (mechanism.Budget, error) { return nil, errors.New("none") }},
	} {
		if err := Check(s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
