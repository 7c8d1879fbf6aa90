package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/query"
)

// How many names are new to the ledger is said: a mistyped one is a second budget.
func TestQueryNewNames(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 3)
	names := textFile(t, "anna\nberta\ncarla\n")
	report := func(args ...string) (out query.Report) {
		t.Helper()
		stdout, _ := succeed(t, append(args, "-json", "-out", p.out)...)
		if err := json.Unmarshal([]byte(stdout), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	stdout, _ := succeed(t, p.cells(g.address, "-names", names, "-dry-run")...)
	if !strings.Contains(stdout, "3 records are new to the ledger") {
		t.Error(stdout)
	}
	stdout, _ = succeed(t, p.cells(g.address, "-names", names, "-out", p.out)...)
	if !strings.Contains(stdout, "3 records are new to the ledger; one that has spent before under another name has a second budget") {
		t.Error(stdout)
	}
	stdout, _ = succeed(t, p.cells(g.address, "-names", names, "-out", p.out)...)
	if strings.Contains(stdout, "new to the ledger") {
		t.Error(stdout)
	}
	if r := report(p.cells(g.address, "-names", textFile(t, "anna\nbertha\ncarla\n"))...); r.NewNames == nil || *r.NewNames != 1 || r.Spent != 1 {
		t.Errorf("%+v", r)
	}
	stdout, _ = succeed(t, p.cells(g.address, "-names", textFile(t, "anna\nberti\ncarla\n"), "-out", p.out)...)
	if !strings.Contains(stdout, "1 record is new to the ledger; if it has spent before under another name, this one is a second budget") {
		t.Error(stdout)
	}
	if r := report(p.cells(g.address, "-names", names)...); r.NewNames == nil || *r.NewNames != 0 {
		t.Errorf("%+v", r)
	}
	if r := report(p.cells(g.address, "-names", names, "-client", "me", "-epsilon", "1")...); r.NewNames == nil || *r.NewNames != 1 || r.Spent != 3 {
		t.Errorf("%+v", r)
	}
	none := []string{"query", "cells", g.address, p.rows, "-epsilon", "4", "-ledger", "none", "-sent", "none", "-cache", "none", "-unconfirmed-codebook"}
	for _, r := range []query.Report{report(none...), report(p.all(g.address)...)} {
		if r.NewNames != nil {
			t.Errorf("%+v", r)
		}
	}
}
