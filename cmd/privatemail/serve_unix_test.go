//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/query"
	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// A listener gets the states that systemd gets.
type listener func() string

// listen stands in for systemd.
func listen(t *testing.T) listener {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "n")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	t.Setenv("NOTIFY_SOCKET", socket)
	return func() string {
		t.Helper()
		data := make([]byte, 1000)
		n, err := l.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		return string(data[:n])
	}
}

// hangup sends SIGHUP and waits until everything was read again.
func (told listener) hangup(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if got := told(); !strings.HasPrefix(got, "RELOADING=1") {
		t.Errorf("told %q", got)
	}
	if got := told(); got != "READY=1" {
		t.Errorf("told %q", got)
	}
}

// A hangup adds the rows of a model that has grown to the epoch. A client that asks before and
// after finds them, and keeps the hint that it has.
func TestServeSealedHangup(t *testing.T) {
	told := listen(t)
	folder, model := toyModel(t)
	s := serveOn(t, model, "-sealed", "-sealed-cells", "5", "-probes", "5") // every row is ranked
	told()                                                                  // ready
	cache := t.TempDir()
	found := func() []int32 {
		t.Helper()
		stdout, _ := succeed(t, "query", "sealed", s.Listening, filepath.Join(folder, files.FeaturesName), "-unconfirmed-epoch", "-cache", cache, "-k", "400", "-json")
		var first query.AnswerReport
		if err := json.NewDecoder(strings.NewReader(stdout)).Decode(&first); err != nil {
			t.Fatal(err)
		}
		return first.IDs
	}
	if ids := found(); len(ids) != 300 || slices.Contains(ids, 303) {
		t.Errorf("%d rows, one of them not there yet", len(ids))
	}
	growModel(t, model, 10)
	told.hangup(t)
	if ids := found(); len(ids) != 310 || !slices.Contains(ids, 303) {
		t.Errorf("%d rows, a new one not among them", len(ids))
	}
	if hint := s.hint(t); hint.Version != 10 {
		t.Errorf("version %d", hint.Version)
	}
	kept, err := filepath.Glob(filepath.Join(cache, "*.hint"))
	if err != nil || len(kept) != 1 {
		t.Errorf("hints %q, %v", kept, err)
	}
	if code, log := s.end(); code != cli.OK || told() != "STOPPING=1" {
		t.Errorf("exit code %d\n%s", code, log)
	}
}

// A hangup reads the gallery again, and systemd gets its state. A file that is broken
// leaves the gallery that was there.
func TestServeHangup(t *testing.T) {
	told := listen(t)
	_, model := toyModel(t)
	temp := t.TempDir()
	one, two := filepath.Join(temp, "one.gallery"), filepath.Join(temp, "two.gallery")
	for path, epsilon := range map[string]string{one: "4", two: "8"} {
		serveOn(t, model, "-epsilon", epsilon, "-gallery", path).end()
		told() // ready
		told() // stopping
	}
	path := filepath.Join(temp, "served.gallery")
	replace := func(by string) {
		t.Helper()
		data, err := os.ReadFile(by)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+".new", data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil { // the old file stays mapped
			t.Fatal(err)
		}
	}
	replace(one)
	s := serveOn(t, path)
	if got := told(); !strings.HasPrefix(got, "READY=1") {
		t.Errorf("told %q", got)
	}
	first := s.codebook(t)
	replace(two)
	told.hangup(t)
	second := s.codebook(t)
	if second.Cells() <= first.Cells() {
		t.Errorf("%d cells, before %d", second.Cells(), first.Cells())
	}
	// Both are answered: the replaced one for requests that name it.
	hash, err := first.Hash()
	if err != nil {
		t.Fatal(err)
	}
	get(t, 200, s.Listening+"/v1/rows?codebook="+hex.EncodeToString(hash[:]))
	replace(model)
	told.hangup(t)
	if again := s.codebook(t); again.Cells() != second.Cells() {
		t.Error("a broken file took the gallery away")
	}
	if metrics := string(get(t, 200, s.Admin+"/metrics")); !strings.Contains(metrics, `privatemail_reloads_total{result="failed"} 1`) {
		t.Error("the failure is not counted")
	}
	if code, log := s.end(); code != cli.OK || told() != "STOPPING=1" {
		t.Errorf("exit code %d\n%s", code, log)
	}
}

// The command is killed at many moments, while it makes its gallery and while it answers.
// The next start needs no repair and has the codebook that was there.
func TestServeKilled(t *testing.T) {
	kills := 50
	if !longtest.Wanted() {
		kills = 8
	}
	killServe(t, kills, []string{"-epsilon", "4"}, "/v1/codebook")
}

// So it is with mode sealed and its epoch.
func TestServeSealedKilled(t *testing.T) {
	killServe(t, 10, []string{"-sealed"}, "/v1/sealed/manifest")
}

// killServe kills serve the given number of times. What a path answers is always the same.
func killServe(t *testing.T, kills int, flags []string, answer string) {
	_, model := toyModel(t)
	temp := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	var book []byte
	answered := 0
	for i := range kills {
		gallery := filepath.Join(temp, "g"+string(rune('a'+i%5))) // each is begun again and opened later
		if i%10 < 5 {
			os.Remove(gallery)
			os.Remove(gallery + ".sealed")
		}
		c := childtest.Command(t, []string{asCommand + "=1"}, append([]string{"serve", model, "-gallery", gallery, "-listen", "127.0.0.1:0", "-admin", "none", "-json"}, flags...)...)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		c.Stderr = &log
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			time.Sleep(time.Duration(rng.IntN(100)) * time.Millisecond)
		} else if line := bufio.NewScanner(out); line.Scan() {
			s := new(served)
			if err := json.Unmarshal(line.Bytes(), s); err != nil {
				t.Error(err)
			}
			got := get(t, 200, s.Listening+answer)
			if book == nil {
				book = got
			}
			if answered++; !bytes.Equal(got, book) {
				t.Error("another codebook")
			}
		} else {
			t.Errorf("it does not start: %s", log.String())
		}
		c.Process.Kill()
		c.Wait()
	}
	if answered != kills/2 {
		t.Errorf("%d of %d answered", answered, kills/2)
	}
	for _, name := range []string{"ga", "gb", "gc", "gd", "ge"} {
		path := filepath.Join(temp, name)
		s := serveOn(t, append([]string{model, "-gallery", path}, flags...)...)
		if got := get(t, 200, s.Listening+answer); !bytes.Equal(got, book) {
			t.Errorf("%s: another codebook", name)
		}
		s.end()
	}
}
