package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/internal/calibration"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/lock"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
)

// userCache makes the cache folder of the user one of the test, and returns that of this program
// in it.
func userCache(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the cache folder of the user is elsewhere")
	}
	folder := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", folder)
	return filepath.Join(folder, "privatemail")
}

// The folder of galleries may be a link. What is behind it is ours, and the link stays.
func TestCacheBehindLink(t *testing.T) {
	own, there := userCache(t), t.TempDir()
	succeed(t, "cache", "list")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(there, filepath.Join(own, "galleries")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(there, strings.Repeat("0a", 32)+".map")
	writeText(t, path, "12345")
	stdout, _ := succeed(t, "cache", "list", "-cache", there)
	if !strings.Contains(stdout, "'privatemail cache clear -cache "+there+"' removes it") {
		t.Error(stdout)
	}
	if stdout, _ := succeed(t, "cache", "clear"); strings.Contains(stdout, "something else") || files.Exists(path) {
		t.Error(stdout)
	}
	if stdout, _ := succeed(t, "cache", "list", "-cache", t.TempDir()); !strings.Contains(stdout, "nothing is kept") {
		t.Error(stdout)
	}
	writeText(t, filepath.Join(there, "notes.txt"), "mine")
	if stdout, _ := succeed(t, "cache", "list", "-cache", there); !strings.Contains(stdout, "nothing that 'privatemail cache clear' removes") {
		t.Error(stdout)
	}
}

// What the commands keep is listed with its size and age, and is what clear removes: files that
// are not ours, and those in use, stay.
func TestCacheListsAndClears(t *testing.T) {
	own := userCache(t)
	stdout, _ := succeed(t, "cache", "list")
	if !strings.Contains(stdout, own+": nothing is kept") {
		t.Error(stdout)
	}
	succeed(t, "cache", "clear")
	calibration.OfThisMachine(simd.Generic) // as embed does
	measured, err := filepath.Glob(filepath.Join(own, "calibration-*.json"))
	if err != nil || len(measured) != 1 {
		t.Fatalf("%v, %v", measured, err)
	}
	hash := strings.Repeat("0a", 32)
	ours := map[string]string{ // and what they are called
		filepath.Base(measured[0]):                   "measured speed of this machine, level ",
		"galleries/" + hash + ".codebook":            "codebook of a gallery",
		"galleries/" + hash + ".base-int8":           "base sample of a gallery",
		"galleries/" + hash + ".rows.part":           "part of a download, a whole gallery of mode all",
		"galleries/" + hash + ".records-hint":        "hint for the records of mode sealed",
		"galleries/.privatemail-new-3w5e11264sg.tmp": "file that is being written, or was left",
	}
	foreign := []string{
		"notes.txt", "mine.json", "calibration-.json", "calibration-old.json.bak", "galleries/me.ledger", "galleries/" + hash, "galleries/" + hash + ".codebook.old", "galleries/" + hash + ".model",
		"galleries/" + strings.ToUpper(hash) + ".codebook", "galleries/.privatemail-new-.tmp", "galleries/" + hash + ".codebook\x1b[31m",
	}
	if err := os.MkdirAll(filepath.Join(own, "galleries", "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name := range ours {
		switch {
		case strings.Contains(name, "/"):
			writeText(t, filepath.Join(own, name), "12345")
		case !files.Exists(filepath.Join(own, name)):
			writeText(t, filepath.Join(own, name), `{"gather":true}`)
		}
	}
	for _, name := range foreign {
		writeText(t, filepath.Join(own, name), `{"version":2}`)
	}
	foreign = append(foreign, "calibration-notes.json")
	writeText(t, filepath.Join(own, "calibration-notes.json"), "no JSON")
	link := filepath.Join(own, "galleries", hash+".map")
	if err := os.Symlink(filepath.Join(own, "notes.txt"), link); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-50 * time.Hour)
	if err := os.Chtimes(filepath.Join(own, "galleries", hash+".codebook"), old, old); err != nil {
		t.Fatal(err)
	}

	stdout, _ = succeed(t, "cache", "list")
	for name, what := range ours {
		line := lineWith(stdout, filepath.Join(own, name)+"\n")
		if !strings.Contains(line, what) || strings.Contains(line, "not made by") {
			t.Errorf("%s: %q", name, line)
		}
	}
	if line := lineWith(stdout, hash+".codebook\n"); !strings.Contains(line, "5 B") || !strings.Contains(line, "2 days") {
		t.Errorf("size and age: %q", line)
	}
	if strings.Count(stdout, "something else: not made by this program") != len(foreign)+2 || strings.Contains(stdout, "\x1b") {
		t.Errorf("what is not ours:\n%s", stdout)
	}
	stdout, _ = succeed(t, "cache", "list", "-json")
	listed := object(t, stdout)
	wantKeys(t, listed, "folder files removed bytes")
	if len(listed["files"].([]any)) != len(ours)+len(foreign)+2 {
		t.Errorf("%s", stdout)
	}

	// A download that goes on in another process keeps its part.
	part := filepath.Join(own, "galleries", hash+".rows.part")
	held, err := lock.Open(part, 0)
	if err != nil {
		t.Fatal(err)
	}
	stdout, _ = succeed(t, "cache", "clear", "-json")
	cleared := object(t, stdout)
	if len(cleared["removed"].([]any)) != len(ours)-1 || len(cleared["files"].([]any)) != len(foreign)+3 || !strings.Contains(stdout, "in use by a running process") {
		t.Errorf("%s", stdout)
	}
	held.Close()
	stdout, _ = succeed(t, "cache", "clear")
	if !strings.Contains(stdout, "removed 1 files, 5 B") || !strings.Contains(stdout, "left alone:") {
		t.Errorf("%s", stdout)
	}
	for name := range ours {
		if files.Exists(filepath.Join(own, name)) {
			t.Errorf("%s is there still", name)
		}
	}
	for _, name := range append(foreign, "galleries/folder", "galleries/"+hash+".map") {
		if !files.Exists(filepath.Join(own, name)) {
			t.Errorf("%s is gone", name)
		}
	}
}

// lineWith returns the line of a text that has some words.
func lineWith(text, words string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, words) {
			return line
		}
	}
	return ""
}

// Whatever query keeps, in all its modes, is known to list and removed by clear.
func TestCacheOfQueryIsKnown(t *testing.T) {
	p := newPlace(t, 3)
	g := startService(t)
	succeed(t, p.cells(g.address)...)
	succeed(t, p.cells(g.address, "-encoding", "int8")...)
	succeed(t, p.all(g.address)...)
	sealed := startSealed(t, sealedserver.Settings{Cells: 4, Probes: 1})
	succeed(t, p.sealed(sealed.address, "-fetch")...)
	stdout, _ := succeed(t, "cache", "list", "-cache", p.cache, "-json")
	kinds := map[string]bool{}
	for _, file := range object(t, stdout)["files"].([]any) {
		f := file.(map[string]any)
		kinds[f["what"].(string)] = true
		if f["ours"] != true {
			t.Errorf("%v", f)
		}
	}
	if len(kinds) != len(files.GalleryThings)+1 {
		t.Errorf("%v", kinds)
	}
	memory, ledger := len(memoryFiles(t, p.memory)), readFile(t, p.ledger)
	succeed(t, "cache", "clear", "-cache", p.cache)
	if left := filesOf(t, p.cache); len(left) > 0 {
		t.Errorf("left: %d files", len(left))
	}
	// A memory is no cache: nothing in it is ours to remove.
	succeed(t, "cache", "clear", "-cache", p.memory)
	if len(memoryFiles(t, p.memory)) != memory || memory == 0 || readFile(t, p.ledger) != ledger {
		t.Error("the memory has lost something")
	}
	succeed(t, p.all(g.address)...)
}

func TestCacheRefusals(t *testing.T) {
	userCache(t)
	for _, c := range []struct {
		args  string
		code  int
		words string
	}{
		{"cache", cli.Usage, "cache list"},
		{"cache empty", cli.Usage, "cache list"},
		{"cache list clear", cli.Usage, "cache list"},
		{"cache list -cache nowhere", cli.Failed, "nowhere: no such file or folder"},
	} {
		refuse(t, c.code, strings.Fields(c.args), c.words)
	}
	t.Setenv("XDG_CACHE_HOME", "relative")
	if code, _, _ := call("cache", "list"); code != cli.Failed {
		t.Errorf("exit code %d", code)
	}
}
