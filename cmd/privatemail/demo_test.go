package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/report"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

func TestDemo(t *testing.T) {
	longtest.Only(t)
	t.Chdir(t.TempDir())
	stdout, _ := succeed(t, "demo", "-epsilon", "2", "-seeds", "1")
	for _, words := range []string{
		"digits: 1000 gallery rows of 10 classes", "ceiling", "raw rows", "prepared rows", "8 random rows", "base sample", "supervised", "cells", "no query", "Algorithm 1",
		"what each mode protects", "! authors' program", "! query label disclosed", "QUERY LABEL DISCLOSED", "10 classes, 1 seed\n", "pure epsilon",
		"encrypted, no epsilon", "sealed, supervised, 8 probes", "Under assumptions: ", "learning with errors", filepath.Join("privatemail-demo", "report.html"),
	} {
		if !strings.Contains(stdout, words) {
			t.Errorf("no %q in\n%s", words, stdout)
		}
	}
	wantNotes(t, stdout, report.AssumptionNote)
	wantFiles(t, "privatemail-demo", "report.html", "report.json", "records.csv", "records.jsonl")
}

// wantNotes fails unless the text, whatever its line breaks, says what the ceiling holds
// for and what fetching matches discloses, and has further notes.
func wantNotes(t *testing.T, text string, more ...string) {
	t.Helper()
	text = oneLine(text)
	for _, note := range append([]string{report.CeilingNote, report.FetchingNote}, more...) {
		if strings.Count(text, note) != 1 {
			t.Errorf("not once %q in\n%s", note, text)
		}
	}
}

// oneLine is a text without its line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestDemoRefuses(t *testing.T) {
	refuse(t, cli.Usage, []string{"demo", "x.npy"}, "use evaluate")
	refuse(t, cli.Usage, []string{"demo", "-epsilon", "none"}, "above 0")
}
