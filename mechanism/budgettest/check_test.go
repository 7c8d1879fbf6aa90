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

// After a kill only the file of a ledger is left. It is copied because the first ledger
// is still open.
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
		"overspends":                              "spends that fit are granted",
		"refuses the last":                        "spends that fit are granted",
		"gives back on a refusal":                 "spends that fit are granted",
		"kinds share":                             "units do not share",
		"units share":                             "units do not share",
		"receipts without a number":               "receipts differ",
		"receipts with one number":                "receipts differ",
		"receipts for another release":            "receipts differ",
		"one price":                               "spends of all sizes",
		"ids pay twice":                           "a release id is paid for once",
		"ids pay twice for another spend":         "a release id is paid for once",
		"numbers decided before they are written": "callers at the same time",
		"forgets crowds":                          "callers at the same time",
		"forgets ids":                             "a release id is paid for once",
		"every unit is known":                     "an unknown unit needs New",
		"any relation will do":                    "another relation needs OtherRelation",
		"notes no relation":                       "another relation needs OtherRelation",
		"notes the first relation":                "another relation needs OtherRelation",
		"notes the last relation":                 "another relation needs OtherRelation",
		"takes bad input":                         "bad input is refused",
		"names units":                             "spends that fit are granted",
		"gives back on a commit":                  "nothing is given back",
		"gives back on a foreign receipt":         "nothing is given back",
		"gives back on bad input":                 "nothing is given back",
		"commits twice":                           "a spend is committed once",
		"takes foreign receipts":                  "a spend is committed once",
		"everything is paid":                      "Paid reports paid releases",
		"paid when committed":                     "Paid reports paid releases",
		"number zero":                             "the number of the ledger",
		"number shared":                           "the number of the ledger",
		"number drawn again":                      "the number of the ledger",
		"forgets its number":                      "the number of the ledger",
		"decides before it writes":                "callers at the same time",
		"ids decided before they are written":     "one release id at the same time",
		"ways have their own number":              "a second access",
		"ways know their own spends":              "a second access",
		"ways count receipts apart":               "a second access",
		"ways commit apart":                       "a second access",
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

// A price that leaves out a part of a spend is found too.
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
		"nothing":      {},
		"no reopen":    {New: table},
		"unknown kind": {New: table, Kinds: []mechanism.Kind{17}},
		"no budget":    {New: func(mechanism.Total) (mechanism.Budget, error) { return nil, errors.New("none") }},
		"not opened":   {New: table, Reopen: func(mechanism.Budget) (mechanism.Budget, error) { return nil, errors.New("none") }},
		"nil":          {New: func(mechanism.Total) (mechanism.Budget, error) { return nil, nil }, Reopen: func(b mechanism.Budget) (mechanism.Budget, error) { return b, nil }},
		"nil again":    {New: table, Reopen: func(mechanism.Budget) (mechanism.Budget, error) { return nil, nil }},
		"nil shared":   {New: table, Reopen: func(b mechanism.Budget) (mechanism.Budget, error) { return b, nil }, Share: func(mechanism.Budget) (mechanism.Budget, error) { return nil, nil }},
		"cannot part":  {New: table, Reopen: func(b mechanism.Budget) (mechanism.Budget, error) { return b, nil }, Share: func(mechanism.Budget) (mechanism.Budget, error) { return nil, errors.New("none") }},
	} {
		if err := Check(s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
