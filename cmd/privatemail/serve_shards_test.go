package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/query"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// splitToy returns a gallery and the files of its three shards.
func splitToy(t *testing.T) (folder, gallery string, shards []string) {
	t.Helper()
	folder, model := toyModel(t)
	gallery = strings.TrimSuffix(model, ".model") + ".gallery"
	serveOn(t, model, "-epsilon", "4").end()
	stdout, _ := succeed(t, "split", gallery, "-into", "3", "-json")
	var report split.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, s := range report.Shards {
		if s.First != rows {
			t.Errorf("%+v", s)
		}
		rows += s.Rows
		shards = append(shards, s.File)
	}
	if rows != 300 || len(shards) != 3 || filepath.Base(shards[1]) != "toy.2of3.shard" {
		t.Errorf("%+v", report)
	}
	return folder, gallery, shards
}

// await waits until the admin listener of a service says that it is ready, or not.
func (s *served) await(t *testing.T, ready bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		r, err := http.Get(s.Admin + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		http.DefaultClient.CloseIdleConnections()
		if (r.StatusCode == 200) == ready {
			return
		}
	}
	t.Fatalf("%s: ready is not %v", s.Listening, ready)
}

// cells returns the answer to a request for a cell.
func (s *served) cells(t *testing.T, want int, cell uint32, encoding string) []byte {
	t.Helper()
	book := s.codebook(t)
	hash, err := book.Hash()
	if err != nil {
		t.Fatal(err)
	}
	frame, err := (&wire.CellsRequest{Codebook: hash, Cells: []uint32{cell}}).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest("POST", s.Listening+"/v1/cells?encoding="+encoding, bytes.NewReader(frame))
	if err != nil {
		t.Fatal(err)
	}
	return do(t, want, r)
}

// sameAnswers wants a front end to send what one server with all rows does.
func sameAnswers(t *testing.T, all, one *served) {
	t.Helper()
	for _, path := range []string{"/v1/gallery", "/v1/codebook", "/v1/map", "/v1/base", "/v1/base?encoding=int8", "/v1/rows"} {
		if !bytes.Equal(get(t, 200, all.Listening+path), get(t, 200, one.Listening+path)) {
			t.Errorf("%s has other bytes than those of one server", path)
		}
	}
	book := one.codebook(t)
	for cell := range uint32(book.Cells()) {
		for _, encoding := range []string{"float32", "int8"} {
			if !bytes.Equal(all.cells(t, 200, cell, encoding), one.cells(t, 200, cell, encoding)) {
				t.Errorf("cell %d of %s: other bytes than those of one server", cell, encoding)
			}
		}
	}
}

// A gallery is split and served by a front end with shards: clients cannot distinguish it from one server,
// also where shards and front end want tokens.
func TestServeShards(t *testing.T) {
	folder, gallery, paths := splitToy(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("0123456789abcdef0123\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var addresses []string
	for _, file := range paths {
		addresses = append(addresses, serveOn(t, file, "-tokens", tokens).Listening)
	}
	one := serveOn(t, gallery)
	all := listenOn(t, "front", append(addresses, "-token-file", tokens)...)
	all.await(t, true)
	sameAnswers(t, all, one)
	rows := filepath.Join(folder, files.FeaturesName)
	var answers []string
	for _, s := range []*served{one, all} {
		stdout, _ := succeed(t, "query", "all", s.Listening, rows, "-unconfirmed-codebook", "-cache", "none", "-k", "5", "-json")
		var first query.AnswerReport
		if err := json.NewDecoder(strings.NewReader(stdout)).Decode(&first); err != nil || len(first.IDs) != 5 {
			t.Fatalf("%+v %v", first, err)
		}
		ids, err := json.Marshal(first.IDs)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, string(ids))
	}
	if answers[0] != answers[1] {
		t.Errorf("answers %q", answers)
	}
	if code, log := all.end(); code != cli.OK || strings.Contains(log, "0123456789abcdef") {
		t.Errorf("exit code %d\n%s", code, log)
	}
}

// A front end without the token of its shards is not ready and says why.
func TestServeShardsUnauthorized(t *testing.T) {
	_, _, paths := splitToy(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("0123456789abcdef0123\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	shard := serveOn(t, paths[0], "-tokens", tokens)
	all := listenOn(t, "front", shard.Listening)
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if strings.Contains(string(get(t, 503, all.Admin+"/readyz")), "does not let us in") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("/readyz does not say why")
		}
	}
}

func TestServeShardsRefuses(t *testing.T) {
	_, gallery, paths := splitToy(t)
	const url = "http://127.0.0.1:1"
	for _, c := range []struct {
		args []string
		want int
		word string
	}{
		{[]string{paths[0], "-epsilon", "4"}, cli.Usage, "is cut already"},
		{[]string{paths[0], "-sealed"}, cli.Usage, "does not go with a shard"},
		{nil, cli.Usage, "want one MODEL, GALLERY or SHARD"},
	} {
		refuseServe(t, c.want, append(c.args, "-listen", "127.0.0.1:0", "-admin", "none"), c.word)
	}
	for _, c := range []struct {
		args []string
		want int
		word string
	}{
		{nil, cli.Usage, "all shards"},
		{[]string{gallery}, cli.Failed, "shard 1"},
		{[]string{url, "-sealed"}, cli.Usage, "its own epoch and hint"},
		{[]string{url, "-records", "x"}, cli.Usage, "one machine serves"},
		{[]string{url, "-epsilon", "4"}, cli.Usage, "holds no rows"},
		{[]string{url, "-cert", "x"}, cli.Usage, "go together"},
		{[]string{url, "-timeout", "0s"}, cli.Usage, "above 0"},
		{[]string{"http://192.0.2.1:1"}, cli.Usage, "shard 1 is reached over http"},
		{[]string{url, "ftp://x"}, cli.Failed, "shard 2"},
		{[]string{url, "-ca", "absent.pem"}, cli.Failed, "absent.pem"},
	} {
		refuse(t, c.want, append(append([]string{"front"}, c.args...), "-listen", "127.0.0.1:0", "-admin", "none"), c.word)
	}
	refuse(t, cli.Usage, []string{"serve", gallery, "-shards", url}, "the verb front")
	refuse(t, cli.Usage, []string{"split", gallery}, "-into N is missing")
	refuse(t, cli.Usage, []string{"split", gallery, "-into", "2000"}, "at most 300")
	refuse(t, cli.Usage, []string{"split", "-into", "2"}, "GALLERY")
	refuse(t, cli.Failed, []string{"split", paths[0], "-into", "2"}, "shard")
	refuse(t, cli.Failed, []string{"split", gallery + "x", "-into", "2"}, "toy.galleryx")
	refuse(t, cli.Failed, []string{"split", gallery, "-into", "2", "-max-memory", "1K"}, "-max-memory allows more")
	succeed(t, "split", gallery, "-into", "1", "-out", t.TempDir())
	stdout, _ := succeed(t, "show", paths[2])
	for _, word := range []string{"3 of 3", "200 to 299", "all are right"} {
		if !strings.Contains(stdout, word) {
			t.Errorf("show: %q is missing in\n%s", word, stdout)
		}
	}
}
