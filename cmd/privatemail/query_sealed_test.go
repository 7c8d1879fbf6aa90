package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/query"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Matches are those of exact ranks, every request has one length, and two runs share no
// ciphertext. What does not depend on a row is fetched once.
func TestQuerySealed(t *testing.T) {
	s := startSealed(t, sealedserver.Settings{Cells: 6, Probes: 2})
	const n = 5
	p := newPlace(t, n)
	m := s.gallery.Manifest()
	seen := map[string]bool{}
	for run := range 2 {
		stdout, _ := succeed(t, p.sealed(s.address, "-json")...)
		s.wantExact(t, p, stdout)
		paths, bodies := s.sent(t)
		if fetched := slices.Contains(paths, "GET /v1/sealed/hint") && slices.Contains(paths, "GET /v1/sealed/ids") && slices.Contains(paths, "GET /v1/map"); fetched != (run == 0) {
			t.Errorf("run %d sent %q", run, paths)
		}
		if len(bodies) != n {
			t.Fatalf("%d requests", len(bodies))
		}
		for _, body := range bodies {
			var request wire.SealedRequest
			if err := request.UnmarshalBinary(body); err != nil || int64(len(body)) != m.RequestBytes() || request.Count != m.Probes {
				t.Errorf("%d bytes, %v", len(body), err)
			}
			for ciphertext := range slices.Chunk(request.Bytes, len(request.Bytes)/request.Count) {
				if seen[string(ciphertext)] {
					t.Error("a ciphertext was sent twice")
				}
				seen[string(ciphertext)] = true
			}
		}
	}
	epoch := s.gallery.Epoch()
	args := slices.Replace(p.sealed(s.address, "-json"), 6, 7, "-epoch", fmt.Sprintf("%x", epoch))
	stdout, _ := succeed(t, args...)
	s.wantExact(t, p, stdout)
	if text, _ := succeed(t, p.sealed(s.address)...); !strings.Contains(text, query.NoEpsilon) {
		t.Errorf("nothing about privacy in\n%s", text)
	}
}

// Always k records are fetched for each query, dummies among them, and they are those of the
// matches.
func TestQueryFetch(t *testing.T) {
	s := startSealed(t, sealedserver.Settings{Cells: 4, Probes: 1})
	p := newPlace(t, 3)
	out := filepath.Join(t.TempDir(), "records.jsonl")
	for _, k := range []int{3, 70} { // a cell has at most 38 rows
		stdout, _ := succeed(t, p.sealed(s.address, "-k", strconv.Itoa(k), "-fetch", "-records-out", out, "-json")...)
		var ids []int32
		for _, line := range strings.Split(strings.TrimSpace(stdout), "\n")[:3] {
			var r query.AnswerReport
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, r.IDs...)
		}
		lines := strings.Split(strings.TrimSpace(readFile(t, out)), "\n")
		if len(lines) != len(ids) {
			t.Fatalf("%d records for %d matches", len(lines), len(ids))
		}
		for i, line := range lines {
			var r query.RecordReport
			if err := json.Unmarshal([]byte(line), &r); err != nil || r.Row != ids[i] || r.Record == nil || *r.Record != fmt.Sprintf("record %d", ids[i]) {
				t.Errorf("record %d: %s, %v", i, line, err)
			}
		}
		_, bodies := s.sent(t)
		fetched := map[int]int{}
		for _, body := range bodies {
			var request wire.SealedRequest
			if err := request.UnmarshalBinary(body); err != nil {
				t.Fatal(err)
			}
			if request.Width == 4 {
				fetched[request.Count]++
			}
		}
		if want := map[int]map[int]int{3: {3: 3}, 70: {64: 3, 6: 3}}[k]; fmt.Sprint(fetched) != fmt.Sprint(want) {
			t.Errorf("k %d: fetches of that many records: %v, want %v", k, fetched, want)
		}
	}
	if text, _ := succeed(t, p.sealed(s.address, "-fetch")...); !strings.Contains(text, ": record ") {
		t.Errorf("no record in\n%s", text)
	}
}

// A gallery that grows while queries are answered: the client follows, by changes or by a new
// hint.
func TestQueryWhileGalleryGrows(t *testing.T) {
	for name, history := range map[string]int{"changes": 0, "hint again": 1} {
		s := startSealed(t, sealedserver.Settings{Cells: 6, Probes: 6, History: history})
		p := newPlace(t, 4)
		nearest := s.images(t, p)[3]
		var asked atomic.Int32
		s.before = func(string) {
			// From the second query on there is a row right at the fourth one.
			switch n := asked.Add(1); {
			case n == 2:
				if _, err := s.gallery.Insert(nearest, 500); err != nil {
					t.Error(err)
				}
			case n > 2 && n < 5:
				if _, err := s.gallery.Insert(s.rows.Data[:6], 600); err != nil {
					t.Error(err)
				}
			}
		}
		stdout, _ := succeed(t, p.sealed(s.address, "-json")...)
		var got query.AnswerReport
		if err := json.Unmarshal([]byte(strings.Split(stdout, "\n")[3]), &got); err != nil || got.IDs[0] != 500 {
			t.Errorf("%s: %v, %v", name, got.IDs, err)
		}
		paths, _ := s.sent(t)
		hints := 0
		for _, path := range paths {
			if path == "GET /v1/sealed/hint" {
				hints++
			}
		}
		if !slices.Contains(paths, "GET /v1/sealed/changes") || (hints > 1) != (history == 1) {
			t.Errorf("%s: sent %q", name, paths)
		}
		// The next run begins with what the cache has.
		s.before = nil
		again, _ := succeed(t, p.sealed(s.address, "-json")...)
		if err := json.Unmarshal([]byte(strings.Split(again, "\n")[3]), &got); err != nil || got.IDs[0] != 500 {
			t.Errorf("%s, later: %v, %v", name, got.IDs, err)
		}
	}
}

// A new epoch in the middle: all rows are encrypted again, once, unless another one was
// confirmed.
func TestQueryMeetsNewEpoch(t *testing.T) {
	s := startSealed(t, sealedserver.Settings{Cells: 6, Probes: 2})
	p := newPlace(t, 3)
	for i, c := range []struct {
		place place
		rows  int
		at    int // the request before which the epoch is replaced
	}{{p, 3, 2}, {newPlace(t, 70), 70, 66}} { // 64 rows have been ranked then
		var asked atomic.Int32
		s.before = func(string) {
			if asked.Add(1) == int32(c.at) {
				s.publish(t, sealedserver.Settings{Cells: 5 - i, Probes: 3})
			}
		}
		stdout, stderr := succeed(t, c.place.sealed(s.address, "-json")...)
		s.wantExact(t, c.place, stdout)
		if !strings.Contains(stderr, "encrypted again") {
			t.Errorf("said %q", stderr)
		}
		if _, bodies := s.sent(t); len(bodies) != c.at+c.rows {
			t.Errorf("%d requests, want %d", len(bodies), c.at+c.rows)
		}
	}
	epoch := s.gallery.Epoch()
	s.before = func(string) { s.publish(t, sealedserver.Settings{Cells: 7, Probes: 3}) }
	args := slices.Replace(p.sealed(s.address), 6, 7, "-epoch", fmt.Sprintf("%x", epoch))
	refuse(t, cli.Failed, args, "another epoch", "-epoch")
}

// A server that lies spoils the result: what is sent is the same, also when
// records are fetched.
func TestQueryIsNotMovedByLies(t *testing.T) {
	s := startSealed(t, sealedserver.Settings{Cells: 6, Probes: 2})
	p := newPlace(t, 3)
	args := p.sealed(s.address, "-fetch", "-json")
	succeed(t, args...)
	s.sent(t)
	succeed(t, args...)
	honest, _ := s.sent(t)
	random := rand.New(rand.NewPCG(1, 2))
	s.instead = func(w http.ResponseWriter, r *http.Request) bool {
		recorder := httptest.NewRecorder()
		s.Public().ServeHTTP(recorder, r)
		var answer wire.SealedAnswer
		if err := answer.UnmarshalBinary(recorder.Body.Bytes()); err != nil {
			t.Error(err)
		}
		for i := range answer.Words {
			answer.Words[i] = random.Uint32()
		}
		frame, err := answer.MarshalBinary()
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(frame)))
		w.Write(frame)
		return true
	}
	// An exit code of failure makes scripts ask again, which the server sees.
	if code, _, stderr := call(args...); code != 0 || !strings.Contains(stderr, "of the fetched records are not there") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	if lied, _ := s.sent(t); !slices.Equal(lied, honest) {
		t.Errorf("sent %q, and %q to an honest server", lied, honest)
	}
}

// Truncated and foreign answers are clear errors, before anything is decrypted.
func TestQueryRefusesSealedAnswers(t *testing.T) {
	s := startSealed(t, sealedserver.Settings{Cells: 6, Probes: 2})
	other := startSealed(t, sealedserver.Settings{Cells: 6, Probes: 2, Seed: 5, Map: []byte(`{"dim":6,"mean":[0,0,0,0,0,0]}`)})
	p := newPlace(t, 1)
	m := s.gallery.Manifest()
	answer := &wire.SealedAnswer{Epoch: other.gallery.Epoch(), Count: m.Probes, Rows: m.Length, Words: make([]uint32, m.Probes*m.Length)}
	foreign, err := answer.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{"truncated": foreign[:len(foreign)-9], "foreign": foreign, "longer": append(bytes.Clone(foreign), 0), "page": []byte("<html>")} {
		s.instead = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			w.Write(body)
			return true
		}
		code, stdout, stderr := call(p.sealed(s.address, "-tries", "1")...)
		if code != cli.Failed || stdout != "" || !strings.Contains(stderr, "the answer: not an answer of this service") {
			t.Errorf("%s: exit code %d\n%s%s", name, code, stdout, stderr)
		}
	}
}

func TestQuerySealedFlags(t *testing.T) {
	p := newPlace(t, 2)
	address := "http://127.0.0.1:1" // nobody is asked
	hash := strings.Repeat("ab", 32)
	for _, c := range []struct {
		args []string
		word string
	}{
		{[]string{"-ledger", p.ledger}, "no epsilon is spent"},
		{[]string{"-epsilon", "4"}, "no epsilon is spent"},
		{[]string{"-sent", p.memory}, "no epsilon is spent"},
		{[]string{"-new-units"}, "no epsilon is spent"},
		{[]string{"-unconfirmed-codebook"}, "-epoch HASH"},
		{[]string{"-encoding", "int8"}, "one encoding"},
		{[]string{"-epoch", hash}, "exclude each other"},
		{[]string{"-epoch", "ab"}, "64 hexadecimal digits"},
		{[]string{"-records-out", "x"}, "-fetch"},
		{[]string{"-fetch", "-records-out", filepath.Join(p.rows, files.FeaturesName)}, files.FeaturesName},
	} {
		refuse(t, cli.Usage, p.sealed(address, c.args...), c.word)
	}
	refuse(t, cli.Usage, []string{"query", "sealed", address, p.rows}, "-epoch HASH is missing")
	refuse(t, cli.Usage, p.all(address, "-fetch"), "no flag -fetch")
	bad := textFile(t, "")
	writeMatrix(t, bad+".npy", 1, galleryCols, []float32{1, 2, float32(math.NaN()), 0, 0, 0})
	refuse(t, cli.Failed, []string{"query", "sealed", address, bad + ".npy", "-unconfirmed-epoch", "-cache", "none"}, "row 1")
}

func TestQuerySealedDryRun(t *testing.T) {
	s := startSealed(t, sealedserver.Settings{Cells: 6, Probes: 2})
	p := newPlace(t, 3)
	stdout, _ := succeed(t, p.sealed(s.address, "-dry-run", "-fetch", "-json")...)
	var r query.PlanReport
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	m := s.gallery.Manifest()
	if r.Epoch == "" || r.RequestBytes != m.RequestBytes() || r.AnswerBytes != m.AnswerBytes() || r.Privacy != query.NoEpsilon || len(r.Once) != 4 || r.Up != 3*(r.RequestBytes+r.FetchUp) || r.FetchUp == 0 {
		t.Errorf("%+v", r)
	}
	if paths, bodies := s.sent(t); len(bodies) > 0 || !slices.Equal(paths, r.Sent) {
		t.Errorf("sent %q, said %q", paths, r.Sent)
	}
	if text, _ := succeed(t, p.sealed(s.address, "-dry-run")...); !strings.Contains(text, "2 ciphertexts") || !strings.Contains(text, query.NoEpsilon) {
		t.Error(text)
	}
	if _, err := os.Stat(p.memory); err == nil {
		t.Error("there is a memory")
	}
}
