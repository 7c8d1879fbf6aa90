package privatize

import (
	"flag"
	"fmt"
	"testing"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// The settings the library takes are the ones the command gives it.
func TestPrivatizeFlagsArrive(t *testing.T) {
	f := new(privatizeFlags)
	set := defined(t, f.Define, "-sigma", "2", "-convention", "program", "-alpha", "-0.5", "-dim", "3", "-sigma-q", "1e-3", "-seed", "9", "-classes", "4",
		"-epsilon", "0.5", "-delta", "1e-7", "-relation", "null", "-rule", "classical", "-label-mode", "randomised", "-label-epsilon", "2", "-table", "different",
		"-ledger", "l", "-unit", "u", "-new-unit", "-unit-kind", "client", "-records", "6", "-out", "o", "-operator", "background", "-radius", "1.5", "-normalize-rows", "-private-rows", "4, 7")
	s, err := f.settings(set)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%+v", *s)
	want := fmt.Sprintf("%+v", privatemail.PrivateSettings{
		Epsilon: 0.5, Delta: 1e-7, Relation: sensitivity.Null, LabelMode: release.ModeRandomised, LabelEpsilon: 2,
		Unit: mechanism.Unit{Kind: release.UnitClient, Name: "u", New: true}, Records: 6, Rule: mechanism.Classical,
		Bandwidth: kernel.SigmaProgram(2), Alpha: -0.5, Table: "different", Classes: 4, Dim: 3, SigmaQ: 1e-3, Seed: 9,
		NormalizeRows: true, Operator: "background", Radius: 1.5, PrivateRows: []int{4, 7},
	})
	if got != want {
		t.Errorf("settings\n%s, want\n%s", got, want)
	}
}

// defined parses arguments with the flags of a verb and returns which were given.
func defined(t *testing.T, define func(*flag.FlagSet), args ...string) map[string]bool {
	t.Helper()
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	define(fs)
	if _, err := cli.Parse(fs, args); err != nil {
		t.Fatal(err)
	}
	return settings.Given(fs)
}
