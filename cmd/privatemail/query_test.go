package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/query"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/internal/wiretap"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// wantMatches compares the answers of a run with those of a function, bit by bit.
func wantMatches(t *testing.T, stdout string, n int, want func(i int) []client.Match) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != n+1 {
		t.Fatalf("%d lines for %d queries", len(lines), n)
	}
	for i, line := range lines[:n] {
		var got query.AnswerReport
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		var ids []int32
		var distances []float32
		for _, m := range want(i) {
			ids, distances = append(ids, int32(m.ID)), append(distances, float32(m.Distance))
		}
		if got.Query != i || !slices.Equal(got.IDs, ids) || !slices.Equal(got.Distances, distances) {
			t.Errorf("query %d: %v at %v, want %v at %v", i, got.IDs, got.Distances, ids, distances)
		}
	}
}

// Answers are those that the two sides in one process give for the sets that were sent, in
// both encodings. What is asked again sends the same bytes and spends nothing.
func TestQueryCells(t *testing.T) {
	g := startService(t)
	for _, encoding := range []wire.Encoding{wire.Float32, wire.Int8} {
		const n = 12
		p := newPlace(t, n)
		images := p.images(t, g)
		c, err := client.NewCells(g.cells.Codebook(), client.CellsSettings{UnconfirmedCodebook: true, Epsilon: 1, Ledger: mechanism.NoLedger, Memory: client.NewMemory()})
		if err != nil {
			t.Fatal(err)
		}
		base, err := c.NewBase(g.cells.Base(encoding))
		if err != nil {
			t.Fatal(err)
		}
		var first [][]byte
		for run := range 3 {
			stdout, _ := succeed(t, p.cells(g.address, "-encoding", encoding.String(), "-json")...)
			paths, bodies := g.sent(t)
			if run == 0 {
				first = bodies
			} else if slices.Contains(paths, "GET /v1/base") || slices.Contains(paths, "GET /v1/map") || !reflect.DeepEqual(bodies, first) {
				t.Errorf("run %d has sent %q", run, paths)
			}
			if len(bodies) != n {
				t.Fatalf("%d requests for %d rows", len(bodies), n)
			}
			wantMatches(t, stdout, n, func(i int) []client.Match {
				request := new(wire.CellsRequest)
				if err := request.UnmarshalBinary(bodies[i]); err != nil {
					t.Fatal(err)
				}
				answer, err := g.cells.Answer(request, encoding)
				if err != nil {
					t.Fatal(err)
				}
				matches, err := c.Rank(images[i], 5, request, answer, base)
				if err != nil {
					t.Fatal(err)
				}
				return matches
			})
			lines := strings.Split(strings.TrimSpace(stdout), "\n")
			last := object(t, lines[len(lines)-1]+"\n")
			wantKeys(t, last, "server mode encoding codebook confirmed gallery queries k epsilon seconds")
			if spent := last["records_that_spent"].(float64); spent != n*float64(btoi(run == 0)) || last["records_remembered"].(float64) != n-spent {
				t.Errorf("run %d: %v", run, last)
			}
		}
		if s := ledgerAt(t, p.ledger); len(s.Entries) != n {
			t.Errorf("%d spends for %d records", len(s.Entries), n)
		}
	}
}

// Nothing of the rows is on the wire, in any encoding, as a feature or as an image.
func TestQuerySendsNoRows(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 12)
	succeed(t, p.cells(g.address, "-encoding", "int8", "-out", p.out)...)
	succeed(t, p.all(g.address, "-out", p.out)...)
	x, err := formats.ReadMatrix(filepath.Join(p.rows, files.FeaturesName))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var traces []wiretap.Trace
	for i, z := range p.images(t, g) {
		row := make([]float64, galleryCols)
		for j := range row {
			row[j] = float64(x.Data[i*galleryCols+j])
		}
		traces = append(append(traces, wiretap.Traces(row)...), wiretap.Traces(z)...)
	}
	came, went := bytes.Join(g.tap.Came(), nil), bytes.Join(g.tap.Went(), nil)
	if len(came) == 0 || len(went) == 0 {
		t.Fatal("nothing was recorded")
	}
	for _, b := range [][]byte{came, went} {
		if found := wiretap.Find(b, traces); found != "" {
			t.Errorf("a row is on the wire as %s", found)
		}
	}
	if bytes.Contains(came, []byte(files.FeaturesName)) {
		t.Error("the name of a record is on the wire")
	}
}

// Mode all takes the gallery once, sends nothing about a row, and ranks all of it.
func TestQueryAll(t *testing.T) {
	g := startService(t)
	const n = 9
	p := newPlace(t, n)
	images := p.images(t, g)
	gallery := new(wire.AllRows)
	if err := gallery.UnmarshalBinary(g.cells.AllRowsFrame()); err != nil {
		t.Fatal(err)
	}
	all, err := client.NewAll(g.cells.Codebook(), client.AllSettings{UnconfirmedCodebook: true}, gallery)
	if err != nil {
		t.Fatal(err)
	}
	for run, want := range [][]string{{"GET /v1/codebook", "GET /v1/map", "GET /v1/rows"}, {"GET /v1/codebook"}} {
		stdout, _ := succeed(t, p.all(g.address, "-json")...)
		wantMatches(t, stdout, n, func(i int) []client.Match {
			matches, err := all.Rank(images[i], 5)
			if err != nil {
				t.Fatal(err)
			}
			return matches
		})
		if paths, bodies := g.sent(t); !slices.Equal(paths, want) || bodies != nil {
			t.Errorf("run %d has sent %q and %d bodies", run, paths, len(bodies))
		}
	}
	// With the hash and the cache nothing is sent at all.
	args := slices.Replace(p.all(g.address, "-out", p.out), 6, 7, "-codebook", fmt.Sprintf("%x", g.hash))
	stdout, _ := succeed(t, args...)
	if paths, _ := g.sent(t); paths != nil || !strings.Contains(stdout, "has learned nothing") || !strings.Contains(stdout, "confirmed by -codebook") {
		t.Errorf("sent %q\n%s", paths, stdout)
	}
}

// More neighbours than there are rows: the places that are left say so.
func TestQueryWithFewerRows(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 3)
	distances := filepath.Join(filepath.Dir(p.out), "d.npy")
	stdout, _ := succeed(t, p.cells(g.address, "-k", "390", "-out", p.out, "-distances-out", distances)...)
	if !strings.Contains(stdout, "fewer than 390 rows: the lists that were sent and the base sample have no more") {
		t.Error(stdout)
	}
	ids, err := formats.ReadMatrix(p.out)
	if err != nil {
		t.Fatal(err)
	}
	defer ids.Close()
	d, err := formats.ReadMatrix(distances)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if ids.Rows != 3 || ids.Cols != 390 || d.Rows != 3 || d.Cols != 390 {
		t.Fatalf("%d x %d", ids.Rows, ids.Cols)
	}
	for i, id := range ids.Data {
		if (id == -1) != math.IsInf(float64(d.Data[i]), 1) || i%390 == 389 && id != -1 {
			t.Fatalf("place %d: %g at %g", i, id, d.Data[i])
		}
	}
	stdout, _ = succeed(t, p.cells(g.address, "-k", "390", "-json")...)
	first, _, _ := strings.Cut(stdout, "\n")
	wantKeys(t, object(t, first+"\n"), "query ids distances rows lists base fewer")
}

// A dry run shows what a run would do and does nothing of it.
func TestQueryDryRun(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 7)
	before := readFile(t, p.ledger)
	stdout, _ := succeed(t, p.cells(g.address, "-dry-run")...)
	for _, words := range []string{"7 requests of ", "epsilon       4 a record", "7 records; 0 are remembered", "would be at 4", "of 10", "base sample: ", "not in the cache", "'query all' takes ", "GET /v1/gallery, GET /v1/codebook", "birds", "with chance 0."} {
		if !strings.Contains(stdout, words) {
			t.Errorf("no %q in\n%s", words, stdout)
		}
	}
	if paths, bodies := g.sent(t); !slices.Equal(paths, []string{"GET /v1/gallery", "GET /v1/codebook"}) || bodies != nil {
		t.Errorf("sent %q", paths)
	}
	if files.Exists(p.memory) || readFile(t, p.ledger) != before {
		t.Error("a dry run has left something")
	}
	plan := object(t, first(succeed(t, p.cells(g.address, "-dry-run", "-json")...)))
	wantKeys(t, plan, "server gallery mode encoding codebook queries cells size epsilon inclusion request_bytes answer_bytes all_rows_bytes new_records remembered_records fits epsilon_so_far epsilon_after budget_epsilon once bytes_up bytes_down sent")
	if book := g.cells.Codebook(); plan["answer_bytes"].(float64) != float64(book.AnswerBytes(wire.Float32)) || plan["all_rows_bytes"].(float64) != float64(book.AllRowsBytes()) {
		t.Errorf("%v", plan)
	}
	// What it says about bytes and spends is what happens.
	g.sent(t)
	succeed(t, p.cells(g.address, "-out", p.out)...)
	_, bodies := g.sent(t)
	up := 0
	for _, b := range bodies {
		up += len(b)
	}
	if float64(up) != plan["bytes_up"].(float64) {
		t.Errorf("%d bytes, the plan was %v", up, plan["bytes_up"])
	}
	plan = object(t, first(succeed(t, p.cells(g.address, "-dry-run", "-json")...)))
	if plan["new_records"].(float64) != 0 || plan["remembered_records"].(float64) != 7 {
		t.Errorf("%v", plan)
	}
	// With the codebook in the cache nothing is sent.
	g.sent(t)
	args := p.cells(g.address, "-dry-run")
	i := slices.Index(args, "-unconfirmed-codebook")
	args = slices.Replace(args, i, i+1, "-codebook", fmt.Sprintf("%x", g.hash))
	if stdout, _ = succeed(t, args...); !strings.Contains(stdout, "sent now      nothing") || !strings.Contains(stdout, "in the cache") {
		t.Error(stdout)
	}
	stdout, _ = succeed(t, append(p.all(g.address), "-dry-run")...)
	if !strings.Contains(stdout, "nothing about the 7 rows") || !strings.Contains(stdout, "whole gallery: ") {
		t.Error(stdout)
	}
	if paths, bodies := g.sent(t); len(paths) != 2 || bodies != nil { // of mode all, which is unconfirmed
		t.Errorf("sent %q", paths)
	}
}

func first(stdout, _ string) string { return stdout }

// A new codebook costs every record its epsilon again, so a run stops there unless it is
// told to go on.
func TestQueryNewCodebook(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 4)
	succeed(t, p.cells(g.address, "-out", p.out)...)
	old := g.hash
	g.publish(t, galleryOf(t, 2))
	g.sent(t)
	for _, more := range []string{"-quiet", "-dry-run"} {
		refuse(t, cli.Failed, p.cells(g.address, more), "new to the memory", "spend its epsilon again", "-accept-new-codebook", fmt.Sprintf("%x", g.hash))
	}
	if _, bodies := g.sent(t); bodies != nil || len(ledgerAt(t, p.ledger).Entries) != 4 {
		t.Error("something was sent or spent")
	}
	// A confirmed hash goes on, and so does the flag.
	confirmed := func(hash wire.Hash) []string {
		args := p.cells(g.address, "-out", p.out)
		i := slices.Index(args, "-unconfirmed-codebook")
		return slices.Replace(args, i, i+1, "-codebook", fmt.Sprintf("%x", hash))
	}
	succeed(t, confirmed(g.hash)...)
	if n := len(ledgerAt(t, p.ledger).Entries); n != 8 {
		t.Errorf("%d spends", n)
	}
	succeed(t, p.cells(g.address, "-out", p.out)...) // the new one is the one of before by now
	refuse(t, cli.Failed, confirmed(old), "another codebook", "spends its epsilon again", "second path")
	g.publish(t, galleryOf(t, 3))
	refuse(t, cli.Failed, p.cells(g.address), "new to the memory")
	// The budget of 10 has room for two spends of 4.
	refuse(t, cli.Failed, p.cells(g.address, "-accept-new-codebook"), "budget exceeded", "4 of 4 records", "fits for 0", "nothing about a row was sent, and nothing was spent")
	succeed(t, p.cells(g.address, "-accept-new-codebook", "-epsilon", "2", "-out", p.out)...)
	succeed(t, p.cells(g.address, "-epsilon", "2", "-out", p.out)...)
	if n := len(ledgerAt(t, p.ledger).Entries); n != 12 {
		t.Errorf("%d spends", n)
	}
}

// A codebook that is replaced in the middle of a run: the run stops, or begins again where
// that is accepted, so that all numbers of rows are those of one gallery.
func TestQueryCodebookReplacedInARun(t *testing.T) {
	g := startService(t)
	for _, accept := range []bool{false, true} {
		p := newPlace(t, 4)
		var asked atomic.Int32
		version := uint64(10)
		if accept {
			version = 20
		}
		next := galleryOf(t, version)
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				if asked.Add(1) == 3 {
					g.publish(t, next)
				}
			}
			g.Public().ServeHTTP(w, r)
		}))
		defer front.Close()
		if !accept {
			refuse(t, cli.Failed, p.cells(front.URL), "another codebook", "spends its epsilon again", "-accept-new-codebook")
			if n := len(ledgerAt(t, p.ledger).Entries); n != 3 || asked.Load() != 3 {
				t.Errorf("%d spends, %d requests", n, asked.Load())
			}
			continue
		}
		stdout, stderr := succeed(t, p.cells(front.URL, "-accept-new-codebook", "-out", p.out)...)
		if !strings.Contains(stderr, "was replaced in the middle of the run") || !strings.Contains(stdout, fmt.Sprintf("%x", g.hash)) {
			t.Errorf("%s\n%s", stdout, stderr)
		}
		if n := len(ledgerAt(t, p.ledger).Entries); n != 3+4 || asked.Load() != 3+4 {
			t.Errorf("%d spends, %d requests", n, asked.Load())
		}
		// The report has all spends of the run, and all names that were new.
		for _, want := range []string{"epsilon 4 by each of 4 records", "epsilon 4 was spent 3 times", "4 records are new to the ledger"} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%q is missing in\n%s", want, stdout)
			}
		}
	}
}

// A run that begins again and then does not fit the budget has sent and spent something.
func TestQueryCodebookReplacedAndNoBudget(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 4)
	var asked atomic.Int32
	next := galleryOf(t, 30)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && asked.Add(1) == 3 {
			g.publish(t, next)
		}
		g.Public().ServeHTTP(w, r)
	}))
	defer front.Close()
	refuse(t, cli.Failed, p.cells(front.URL, "-accept-new-codebook", "-epsilon", "6"), "4 of 4 records would spend", "fits for 1 of them; nothing more about a row was sent")
	if n := len(ledgerAt(t, p.ledger).Entries); n != 3 {
		t.Errorf("%d spends", n)
	}
}

// Ledgers and memories of several kinds.
func TestQueryPayers(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 2)
	// One client pays for all, and 3 records do not fit what 2 do.
	args := func(more ...string) []string {
		return p.cells(g.address, append(more, "-client", "me", "-out", p.out)...)
	}
	succeed(t, args()...)
	big := newPlace(t, 5)
	p.rows = big.rows
	names := filepath.Join(t.TempDir(), "names")
	if err := os.WriteFile(names, []byte("a\nb\nc\nd\ne\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	refuse(t, cli.Failed, args("-names", names), "budget exceeded", "5 of 5 records", "fits for 0")
	// Without -new-units a record that the ledger does not know is refused.
	all := p.cells(g.address, "-out", p.out)
	i := slices.Index(all, "-new-units")
	refuse(t, cli.Failed, slices.Delete(slices.Clone(all), i, i+1), "unknown unit", "-new-units")
	// No ledger and no memory: each run draws again, and nothing is left.
	none := []string{"query", "cells", g.address, p.rows, "-epsilon", "4", "-ledger", "none", "-sent", "none", "-cache", "none", "-unconfirmed-codebook"}
	stdout, _ := succeed(t, none...)
	if !strings.Contains(stdout, "ledger        none: nothing was counted") || !strings.Contains(stdout, "by each of 5 records") {
		t.Error(stdout)
	}
	if stdout, _ = succeed(t, append(none, "-dry-run")...); !strings.Contains(stdout, "5 records; 0 are remembered") {
		t.Error(stdout)
	}
}

// What makes no sense is refused before anything is sent.
func TestQueryRefuses(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 2)
	without := func(flag string, values int) []string {
		args := p.cells(g.address)
		i := slices.Index(args, flag)
		return slices.Delete(args, i, i+1+values)
	}
	hash := strings.Repeat("ab", 32)
	for _, c := range []struct {
		code  int
		args  []string
		words []string
	}{
		{cli.Usage, []string{"query", g.address}, []string{"want one of cells, sealed, all"}},
		{cli.Usage, []string{"query"}, []string{"say which: cells, sealed, all"}},
		{cli.Usage, []string{"query", "cells", g.address}, []string{"SERVER and ROWS"}},
		{cli.Usage, without("-epsilon", 1), []string{"-epsilon", "no default"}},
		{cli.Usage, without("-ledger", 1), []string{"-ledger FILE is missing"}},
		{cli.Usage, without("-sent", 1), []string{"-sent FOLDER is missing"}},
		{cli.Usage, without("-unconfirmed-codebook", 0), []string{"-codebook HASH is missing", "-unconfirmed-codebook"}},
		{cli.Usage, p.cells(g.address, "-codebook", hash), []string{"exclude each other"}},
		{cli.Usage, append(without("-unconfirmed-codebook", 0), "-codebook", hash, "-accept-new-codebook"), []string{"exclude each other"}},
		{cli.Usage, p.cells(g.address, "-codebook", "12"), []string{"64 hexadecimal digits"}},
		{cli.Usage, p.cells(g.address, "-delta", "1"), []string{"delta is 0"}},
		{cli.Usage, p.cells(g.address, "-cert", "x"), []string{"-cert and -key go together"}},
		{cli.Usage, p.cells(g.address, "-stall", "0s"), []string{"-stall"}},
		{cli.Usage, p.cells(g.address, "-out", filepath.Join(p.rows, files.FeaturesName)), []string{"would replace the input"}},
		{cli.Usage, append(p.all(g.address), "-epsilon", "1"), []string{"nothing is spent"}},
		{cli.Usage, append(p.all(g.address), "-ledger", "none"), []string{"nothing is spent"}},
		{cli.Usage, append(p.all(g.address), "-sent", "none"), []string{"nothing is spent"}},
		{cli.Usage, append(p.all(g.address), "-encoding", "float32"), []string{"comes as int8"}},
		{cli.Usage, []string{"query", "cells", g.address, p.rows, "-epsilon", "1", "-ledger", "none", "-new-units", "-sent", "none", "-unconfirmed-codebook"}, []string{"about a ledger"}},
		{cli.Failed, p.cells("gallery.example"), []string{"http:// or https://"}},
		{cli.Failed, p.cells(g.address, "-ca", p.ledger), []string{"no certificate in it"}},
		{cli.Failed, p.cells(g.address, "-token-file", filepath.Join(p.rows, "none")), []string{"no such file"}},
		{cli.Failed, p.cells("http://gallery.example", "-token-file", textFile(t, "secret")), []string{"over http", "use https"}},
		{cli.Failed, p.cells(g.address, "-token-file", textFile(t, "\n")), []string{"first line is empty"}},
		{cli.Failed, p.cells(g.address, "-token-file", textFile(t, "a b")), []string{"characters that no token has"}},
		{cli.Failed, p.cells(g.address, "-names", textFile(t, "a\n")), []string{"1 names, and there are 2 rows"}},
		{cli.Failed, p.cells(g.address, "-ledger", filepath.Join(p.rows, "none")), []string{"no such ledger"}},
		{cli.Failed, append(p.all(g.address), "-max-memory", "1K"), []string{"-max-memory allows more"}},
		{cli.Failed, p.cells("http://127.0.0.1:1", "-tries", "1"), []string{"http://127.0.0.1:1: ", "does not answer"}},
	} {
		refuse(t, c.code, c.args, c.words...)
	}
	// Rows of another number of columns are refused once the map is known.
	writeMatrix(t, filepath.Join(p.rows, files.FeaturesName), 2, 3, make([]float32, 6))
	refuse(t, cli.Failed, p.cells(g.address), "rows of 3 values, but the map of the server takes 6")
	writeMatrix(t, filepath.Join(p.rows, files.FeaturesName), 1, galleryCols, []float32{1, 2, 3, 4, 5, float32(math.NaN())})
	refuse(t, cli.Failed, p.cells(g.address), "row 1, column 6")
	if _, bodies := g.sent(t); bodies != nil || len(ledgerAt(t, p.ledger).Entries) != 0 || files.Exists(p.memory) && len(memoryFiles(t, p.memory)) > 0 {
		t.Error("something was sent, spent or kept")
	}
}

// An interrupt leaves the file of before, and what was released is sent again by the next
// run.
func TestQueryInterrupted(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 6)
	if err := os.WriteFile(p.out, []byte("previous"), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var asked atomic.Int32
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if asked.Add(1) == 4 {
				io.Copy(io.Discard, r.Body) // the end of a connection shows behind it
				cancel()
				<-r.Context().Done()
				return
			}
		}
		g.Public().ServeHTTP(w, r)
	}))
	defer front.Close()
	var stdout, stderr bytes.Buffer
	if code := program().Run(ctx, p.cells(front.URL, "-out", p.out), &stdout, &stderr); code != cli.Interrupted || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
	if got := readFile(t, p.out); got != "previous" {
		t.Errorf("the file is now %q", got)
	}
	if n := len(ledgerAt(t, p.ledger).Entries); n != 4 {
		t.Errorf("%d spends", n)
	}
	out, _ := succeed(t, p.cells(front.URL, "-out", p.out)...)
	if !strings.Contains(out, "by each of 2 records; 4 were remembered") {
		t.Error(out)
	}
}

// The cache cannot be written to: there is a note, and answers.
func TestQueryWithoutRoomForTheCache(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 2)
	p.cache = filepath.Join(p.ledger, "cache") // a folder in a file
	for _, args := range [][]string{p.cells(g.address, "-out", p.out), p.all(g.address, "-out", p.out)} {
		if _, stderr := succeed(t, args...); !strings.Contains(stderr, "the cache: a file of the codebook is not kept") {
			t.Error(stderr)
		}
	}
}

// Codebooks that are damaged are not taken for none: that would make every record spend again.
func TestDamagedCodebooks(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 2)
	succeed(t, p.cells(g.address, "-out", p.out)...)
	path := filepath.Join(p.memory, "codebooks")
	for _, text := range []string{"12\n", strings.Repeat("z", 64) + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		refuse(t, cli.Failed, p.cells(g.address), "the file of its codebooks is damaged")
	}
}

// A codebook goes by its hash, whatever the server is called: under another name for the same
// server nothing is spent, and another codebook is refused there as well.
func TestCodebookUnderAnyAddress(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 2)
	succeed(t, p.cells(g.address, "-out", p.out)...)
	alias := strings.Replace(g.address, "127.0.0.1", "localhost", 1)
	other := httptest.NewServer(g.Public())
	defer other.Close()
	if alias == g.address {
		t.Fatal(alias)
	}
	addresses := []string{alias, alias + "/", g.address + "//", other.URL}
	for _, address := range addresses {
		out, _ := succeed(t, p.cells(address, "-out", p.out)...)
		if !strings.Contains(out, "nothing: all 2 records were remembered") {
			t.Errorf("%s: %s", address, out)
		}
	}
	g.publish(t, galleryOf(t, 2))
	for _, address := range addresses {
		refuse(t, cli.Failed, p.cells(address), "new to the memory")
		refuse(t, cli.Failed, p.cells(address, "-dry-run"), "new to the memory")
	}
	if n := len(ledgerAt(t, p.ledger).Entries); n != 2 {
		t.Errorf("%d spends", n)
	}
}

// A server that fails in the middle: the message says what the next run costs.
func TestQueryFailsInTheMiddle(t *testing.T) {
	g := startService(t)
	var asked atomic.Int32
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && asked.Add(1) == 3 {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		g.Public().ServeHTTP(w, r)
	}))
	defer front.Close()
	p := newPlace(t, 4)
	refuse(t, cli.Failed, p.cells(front.URL), "status 500", "2 of 4 queries were answered", "sends for all of them what is remembered")
	asked.Store(0)
	none := []string{"query", "cells", front.URL, p.rows, "-epsilon", "4", "-ledger", "none", "-sent", "none", "-cache", "none", "-unconfirmed-codebook"}
	refuse(t, cli.Failed, none, "2 of 4 queries were answered", "draws and pays again")
}

// Where rows cannot be ranked in the space of the cells, nothing is spent.
func TestQueryInTwoSpaces(t *testing.T) {
	g := startService(t)
	x, err := synth.Uniform(400, galleryCols, 7)
	if err != nil {
		t.Fatal(err)
	}
	z := blas64.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols}
	for _, v := range x.Data {
		z.Data = append(z.Data, float64(v))
	}
	ranking := z
	ranking.Cols--
	cells, err := server.NewCells(t.Context(), z, ranking, server.CellsSettings{Epsilon: 4, Version: 2})
	if err != nil {
		t.Fatal(err)
	}
	g.publish(t, cells)
	p := newPlace(t, 2)
	for _, args := range [][]string{p.cells(g.address), p.all(g.address)} {
		refuse(t, cli.Failed, args, "6 columns and its rows 5", "nothing about a row was sent, and nothing was spent")
	}
	if n := len(ledgerAt(t, p.ledger).Entries); n != 0 {
		t.Errorf("%d spends", n)
	}
}

// A sample of the gallery that the codebook allows, and the memory does not, is not taken.
func TestQueryWithinItsMemory(t *testing.T) {
	g := startService(t)
	all := &wire.Base{Codebook: g.hash, Dimension: galleryCols}
	for i := range 400 {
		all.IDs = append(all.IDs, uint32(i))
		all.Rows = append(all.Rows, make([]float32, galleryCols)...)
	}
	frame, err := all.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/base" {
			w.Write(frame)
			return
		}
		g.Public().ServeHTTP(w, r)
	}))
	defer front.Close()
	p := newPlace(t, 2)
	limit := fmt.Sprint(len(frame))
	succeed(t, p.cells(g.address, "-max-memory", limit, "-cache", "none")...)
	refuse(t, cli.Failed, p.cells(front.URL, "-max-memory", limit, "-cache", "none"), "base-float32", "longer than there is room for", "-max-memory allows more")
}

// Whatever the memory is, answers that there is no room for are found out before a record spends.
func TestQueryFindsMemoryFirst(t *testing.T) {
	g := startService(t)
	refused := 0
	for limit := 100; ; limit += limit / 8 {
		p := newPlace(t, 2)
		var stdout, stderr bytes.Buffer
		code := program().Run(t.Context(), p.cells(g.address, "-max-memory", fmt.Sprint(limit), "-cache", "none"), &stdout, &stderr)
		spends := len(ledgerAt(t, p.ledger).Entries)
		if code == 0 {
			if spends != 2 || refused == 0 {
				t.Errorf("%d spends after %d refusals", spends, refused)
			}
			return
		}
		refused++
		if spends != 0 || limit > 1<<20 {
			t.Fatalf("a limit of %d bytes: %d spends\n%s", limit, spends, stderr.String())
		}
	}
}
