package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What verbs answer from a file of ours that was damaged is never another answer with exit code 0:
// bits are flipped all over it, and it is cut and made longer. Ledgers are not here: one that ends
// early is that of an earlier time, which -at finds out.
func TestDamagedFiles(t *testing.T) {
	folder, model := toyModel(t)
	base, temp := strings.TrimSuffix(model, ".model"), t.TempDir()
	at := func(name string) string { return filepath.Join(temp, name) }
	records := textFile(t, strings.Repeat("a record\n", 300))
	serveOn(t, model, "-epsilon", "4", "-sealed", "-records", records).end()
	succeed(t, "split", base+".gallery", "-into", "3", "-out", temp)
	ledger, z, split := newLedger(t, temp), at("z.npy"), at("split")
	succeed(t, private(folder, ledger, at("r.release"))...)
	succeed(t, append(private(folder, ledger, at("r.json")), "-json")...)
	embed := []string{"embed", folder, "-sigma", "1", "-alpha", "0.1", "-normalize", "centred", "-operator", "dense", "-checkpoint", at("c"), "-checkpoint-every", "1", "-out", z}
	interrupted(t, append(embed, "-steps", "1000000"), at("c"))
	if err := os.Mkdir(split, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file     string
		commands [][]string
	}{
		{base + ".gallery", [][]string{{"serve", base + ".gallery"}, {"serve", model, "-epsilon", "4"}, {"split", base + ".gallery", "-into", "2", "-out", split}, {"show", base + ".gallery"}}},
		{base + ".sealed", [][]string{{"serve", base + ".sealed"}, {"serve", model, "-sealed"}, {"serve", base + ".gallery", "-sealed"}, {"show", base + ".sealed"}}},
		{base + ".records", [][]string{{"serve", model, "-sealed", "-records", records}, {"show", base + ".records"}}},
		{at("toy.2of3.shard"), [][]string{{"serve", at("toy.2of3.shard")}, {"show", at("toy.2of3.shard")}}},
		{at("r.release"), [][]string{{"continue", at("r.release"), "-mean-neighbours", "20", "-out", z}, {"show", at("r.release")}, {"budget", "verify", ledger, at("r.release")}}},
		{at("r.json"), [][]string{{"continue", at("r.json"), "-mean-neighbours", "20", "-out", z}, {"show", at("r.json")}, {"budget", "verify", ledger, at("r.json")}}},
		{at("c"), [][]string{append(embed, "-steps", fmt.Sprint(stepsIn(t, at("c"))+3), "-resume"), {"show", at("c")}}},
	} {
		whole := []byte(readFile(t, c.file))
		var versions [][]byte
		const bits, cuts = 50, 12
		for i := range bits {
			bit := i * (8*len(whole) - 1) / (bits - 1)
			v := bytes.Clone(whole)
			v[bit/8] ^= 1 << (bit % 8)
			versions = append(versions, v)
		}
		for i := range cuts {
			versions = append(versions, whole[:i*len(whole)/cuts])
		}
		versions = append(versions, whole[:len(whole)-2], append(bytes.Clone(whole), 0), append(bytes.Clone(whole), whole...))
		for i, v := range versions {
			for _, args := range c.commands {
				if err := os.WriteFile(c.file, v, 0o600); err != nil {
					t.Fatal(err)
				}
				code, text := tried(t, args)
				if _, err := os.Stat(z); code == 0 || err == nil || !strings.HasPrefix(text[strings.LastIndex(text[:len(text)-1], "\n")+1:], "privatemail: ") {
					t.Errorf("%s, version %d: exit code %d, %v\n%s", strings.Join(args, " "), i, code, err, text)
				}
				os.Remove(z)
			}
		}
		if entries, err := os.ReadDir(split); err != nil || len(entries) > 0 {
			t.Errorf("%s leaves %v, %v", c.file, entries, err)
		}
		if err := os.WriteFile(c.file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if code, text := tried(t, c.commands[0]); code != 0 {
			t.Errorf("%s, mended: exit code %d\n%s", c.file, code, text)
		}
		os.Remove(z)
	}
}

// tried runs a command, and ends it when it serves.
func tried(t *testing.T, args []string) (code int, stderr string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	to := io.Discard
	if args[0] == "serve" {
		args, to = append([]string{"serve", "-json", "-listen", "127.0.0.1:0", "-admin", "none"}, args[1:]...), cancelling{cancel}
	}
	var log bytes.Buffer
	code = program().Run(ctx, args, to, &log)
	return code, log.String()
}
