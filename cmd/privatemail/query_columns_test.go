package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/query"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A row is one record whatever the order of its columns in a file is, where they are taken by name. A
// server whose map has another order makes no other records of rows that have spent.
func TestQueryRecordsByColumnNames(t *testing.T) {
	temp := t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	names := []string{"length", "width", "height", "depth"}
	gallery := insects(t, at("gallery.csv"), 120, 1, append(names, "species")...)
	other := insects(t, at("other.csv"), 120, 1, "depth", "width", "height", "length", "species")
	fit := func(features, model string) {
		succeed(t, "fit", features, "-recipe", "standardize,discriminate", "-measure=false", "-model", at(model), "-quiet")
	}
	fit(gallery, "m.model")
	fit(other, "other.model")
	straight := insects(t, at("straight.csv"), 5, 2, names...)
	turned := insects(t, at("turned.csv"), 5, 2, "depth", "width", "height", "length")
	s := serveOn(t, at("m.model"), "-epsilon", "4", "-gallery", at("m.gallery"))
	address := s.Listening
	command := func(rows string, more ...string) []string {
		return append([]string{"query", "cells", address, rows, "-epsilon", "4", "-ledger", at("ledger"), "-new-units", "-sent", at("memory"), "-cache", at("cache"), "-unconfirmed-codebook", "-json"}, more...)
	}
	run := func(rows string, spent, remembered int) {
		t.Helper()
		var r query.Report
		stdout, _ := succeed(t, command(rows, "-out", at("ids.npy"))...)
		if err := json.Unmarshal([]byte(stdout), &r); err != nil || r.Spent != spent || r.Remembered != remembered {
			t.Errorf("%s: %d records have spent, %d were remembered: %v", rows, r.Spent, r.Remembered, err)
		}
	}
	succeed(t, "budget", "create", at("ledger"), "-kind", "pure", "-epsilon", "12")
	_, stderr := succeed(t, command(turned, "-dry-run")...)
	if !strings.Contains(stderr, "the map of the server is not in the cache") {
		t.Error(stderr)
	}
	run(straight, 5, 0)
	run(turned, 0, 5)
	ids := readFile(t, at("ids.npy"))
	run(straight, 0, 5)
	if readFile(t, at("ids.npy")) != ids {
		t.Error("the order of columns changes the answers")
	}
	var plan query.PlanReport
	stdout, _ := succeed(t, command(turned, "-dry-run")...)
	if err := json.Unmarshal([]byte(stdout), &plan); err != nil || plan.New != 0 || plan.Remembered != 5 {
		t.Errorf("%+v, %v", plan, err)
	}
	output := []string{"-epsilon", "4", "-ledger", "none", "-sent", "none", "-unconfirmed-codebook", "-names", turned}
	for _, flag := range []string{"-out", "-distances-out", "-predict"} {
		refuse(t, cli.Usage, append(append([]string{"query", "cells", address, straight}, output...), flag, turned), "would replace the input")
	}
	s.end()

	address = serveOn(t, at("other.model"), "-epsilon", "4", "-gallery", at("other.gallery")).Listening
	refuse(t, cli.Failed, command(straight, "-accept-new-codebook"), "5 records have spent", "nothing was spent")
	if n := len(ledgerAt(t, at("ledger")).Entries); n != 5 {
		t.Errorf("%d spends", n)
	}
}
