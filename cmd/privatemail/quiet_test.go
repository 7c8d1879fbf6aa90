package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// With -quiet every verb that has it prints nothing unless something is wrong: no notes
// and no warnings either, of which these commands have some.
func TestQuietPrintsErrorsOnly(t *testing.T) {
	folder, temp := toy(t), t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	succeed(t, private(folder, "none", at("r"))...)
	model := modelOf(t, folder, "classic")
	asked, rows := startService(t), newPlace(t, 3).rows
	commands := map[string]struct{ args, note string }{
		"demo":         {"", ""}, // it prints as evaluate does, and takes longer
		"evaluate":     {folder + " -modes raw -seeds 1 -out " + at("evaluate"), ""},
		"embed":        {folder + " -form paper -sigma 1e-3 -operator csr -out " + at("z.npy"), "miss -tolerance"},
		"fit":          {folder + " -recipe classic -measure=false -mean-neighbours 0.01 -out " + at("f.npy"), "neighbours on average"},
		"apply":        {model + " " + folder + " -out " + at("a.npy"), ""},
		"graph":        {folder + " -mean-neighbours 5 -out " + at("g.npz"), ""},
		"search":       {folder + " -k 3 -out " + at("ids.npy"), ""},
		"query all":    {asked.address + " " + rows + " -unconfirmed-codebook -cache " + at("r") + "/none -out " + at("q.npy"), "is not kept"},
		"query cells":  {"", ""}, // these print as query all does
		"query sealed": {"", ""},
		"serve":        {"", ""}, // it does not end by itself; its log goes by -quiet
		"front":        {"", ""}, // as serve
		"split":        {at("s.gallery") + " -into 2", "rows 1 to 200"},
		"generate":     {"-n 5 -d 2 -out " + at("g.npy"), ""},
		"privatize":    {folder + " -sigma 1 -label-mode dropped -epsilon 1 -delta 1e-6 -ledger none -anyway -out " + at("p"), "No ledger"},
		"continue":     {at("r") + " -out " + at("c.npy"), "every weight is 1"},
	}
	if err := asked.cells.Save(t.Context(), at("s.gallery")); err != nil {
		t.Fatal(err)
	}
	for _, v := range program().All() {
		c, ok := commands[v.Name]
		if has := v.Prints&cli.PrintsProgress != 0; has != ok {
			t.Errorf("%s: has -quiet %v, is tried %v", v.Name, has, ok)
		}
		if !ok {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			if help, _ := succeed(t, append([]string{"help", "-all"}, strings.Fields(v.Name)...)...); !strings.Contains(help, "print errors only") {
				t.Errorf("help -all does not say what -quiet leaves:\n%s", help)
			}
			if c.args == "" {
				return
			}
			args := append(strings.Fields(v.Name), strings.Fields(c.args)...)
			stdout, stderr := succeed(t, append(args, "-quiet")...)
			if stdout != "" || stderr != "" {
				t.Errorf("prints %q and %q", stdout, stderr)
			}
			if c.note == "" {
				return
			}
			if v.Name == "privatize" {
				args[len(args)-1] += "2" // a release is not replaced
			}
			if _, stderr := succeed(t, args...); !strings.Contains(stderr, c.note) {
				t.Errorf("there was no note to leave out:\n%s", stderr)
			}
		})
	}
	refuse(t, cli.Failed, []string{"embed", at("absent"), "-sigma", "1", "-out", at("z.npy"), "-quiet"}, "absent")
	if stdout, stderr := succeed(t, "embed", "-plan", folder, "-mean-neighbours", "5", "-quiet"); stdout+stderr != "" {
		t.Errorf("prints %q and %q", stdout, stderr)
	}
	refuse(t, cli.Failed, []string{"embed", "-plan", folder, "-mean-neighbours", "5", "-operator", "pairs", "-quiet"}, "no operator can serve", "without -quiet")
}

// What a newcomer gets is short; the certificate, memory and the objective need -v.
func TestDetailsAreBehindV(t *testing.T) {
	folder, temp := toy(t), t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	succeed(t, private(folder, "none", at("r"))...)
	for _, c := range []struct{ args, details string }{
		{"embed " + folder + " -mean-neighbours 20 -beta 3 -out " + at("z.npy"), "operator weights certificate memory objective"},
		{"fit " + folder + " -recipe classic -measure=false -out " + at("z.npy"), "operator weights certificate memory"},
		{"continue " + at("r") + " -mean-neighbours 20 -out " + at("z.npy"), "means odds noise labels operator weights certificate memory objective"},
		{"privatize " + folder + " -sigma 1 -label-mode dropped -epsilon 1 -delta 1e-6 -ledger none -anyway -out " + at("p"), "means odds noise labels"},
	} {
		short, _ := succeed(t, strings.Fields(c.args)...)
		args := strings.Fields(c.args)
		if args[0] == "privatize" {
			args[len(args)-1] += "2" // a release is not replaced
		}
		long, _ := succeed(t, append(args, "-v")...)
		for name := range strings.FieldsSeq(c.details) {
			if strings.Contains("\n"+short, "\n"+name+" ") || !strings.Contains("\n"+long, "\n"+name+" ") {
				t.Errorf("%s: the line %s is not behind -v:\n%s\n%s", c.args, name, short, long)
			}
		}
	}
}
