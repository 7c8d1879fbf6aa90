package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/cli/clitest"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A served gallery is the verb serve in this process.
type served struct {
	Listening, Admin string
	end              func() (code int, log string)
}

// serveOn runs the verb until the test ends it, on free ports.
func serveOn(t *testing.T, args ...string) *served {
	t.Helper()
	return listenOn(t, "serve", args...)
}

// listenOn runs serve or front.
func listenOn(t *testing.T, verb string, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, stdout := io.Pipe()
	log := new(clitest.Buffer)
	ended := make(chan int, 1)
	go func() {
		ended <- program().Run(ctx, append([]string{verb, "-json", "-listen", "127.0.0.1:0", "-admin", "127.0.0.1:0"}, args...), stdout, log)
		stdout.Close()
	}()
	s := &served{end: func() (int, string) {
		cancel()
		code := <-ended
		ended <- code
		return code, log.String()
	}}
	t.Cleanup(func() { s.end() })
	line := bufio.NewScanner(out)
	if !line.Scan() {
		_, text := s.end()
		t.Fatalf("%s %s ended: %s", verb, strings.Join(args, " "), text)
	}
	if err := json.Unmarshal(line.Bytes(), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// refuseServe wants an exit code and a word of the message from a start that fails. A start
// that does not fail is ended.
func refuseServe(t *testing.T, want int, args []string, word string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log bytes.Buffer
	code := program().Run(ctx, append([]string{"serve", "-json"}, args...), cancelling{cancel}, &log)
	lines := strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
	if last := lines[len(lines)-1]; code != want || !strings.HasPrefix(last, "privatemail: serve: ") || !strings.Contains(last, word) {
		t.Errorf("serve %s: exit code %d, want %d and %q:\n%s", strings.Join(args, " "), code, want, word, log.String())
	}
}

// cancelling is an output that ends who writes to it.
type cancelling struct{ cancel context.CancelFunc }

func (c cancelling) Write(b []byte) (int, error) {
	c.cancel()
	return len(b), nil
}

// get returns the body of an answer with a status.
func get(t *testing.T, want int, url string, headers ...string) []byte {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	return do(t, want, r)
}

func do(t *testing.T, want int, r *http.Request) []byte {
	t.Helper()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != want {
		t.Errorf("%s: %d %.200s %v", r.URL, answer.StatusCode, body, err)
	}
	return body
}

// codebook returns that of a gallery that is served.
func (s *served) codebook(t *testing.T) (book wire.Codebook) {
	t.Helper()
	if err := book.UnmarshalBinary(get(t, 200, s.Listening+"/v1/codebook")); err != nil {
		t.Fatal(err)
	}
	return book
}

// toyModel returns a folder of rows and a model of them.
func toyModel(t *testing.T) (folder, model string) {
	t.Helper()
	folder = toy(t)
	model = filepath.Join(t.TempDir(), "toy.model")
	succeed(t, "fit", folder, "-recipe", "classic", "-measure=false", "-model", model)
	return folder, model
}

// A model becomes a gallery once. Every later start serves the same codebook, and another
// one only when it is asked for.
func TestServeModel(t *testing.T) {
	_, model := toyModel(t)
	gallery := strings.TrimSuffix(model, ".model") + ".gallery"
	first := serveOn(t, model, "-epsilon", "4")
	book := first.codebook(t)
	if get(t, 200, first.Admin+"/readyz"); book.Version != 1 || book.Rows != 300 {
		t.Errorf("version %d, %d rows", book.Version, book.Rows)
	}
	var about struct{ Name string }
	if err := json.Unmarshal(get(t, 200, first.Listening+"/v1/gallery"), &about); err != nil || about.Name != "toy" {
		t.Errorf("%+v, %v", about, err)
	}
	get(t, 200, first.Listening+"/v1/map")
	get(t, 200, first.Listening+"/v1/rows")
	if code, log := first.end(); code != cli.OK {
		t.Errorf("exit code %d\n%s", code, log)
	}
	whole, err := os.ReadFile(gallery)
	if err != nil {
		t.Fatal(err)
	}
	same := func(got wire.Codebook) {
		t.Helper()
		one, err := book.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if other, err := got.MarshalBinary(); err != nil || !bytes.Equal(one, other) {
			t.Errorf("another codebook: clients pay again: %v", err)
		}
	}
	for _, args := range [][]string{{model, "-epsilon", "4"}, {gallery}, {model, "-epsilon", "4", "-rebuild"}} {
		again := serveOn(t, args...)
		same(again.codebook(t))
		again.end()
	}
	if now, err := os.ReadFile(gallery); err != nil || !bytes.Equal(whole, now) {
		t.Errorf("the gallery was written again: %v", err)
	}
	refuseServe(t, cli.Failed, []string{model, "-epsilon", "5", "-listen", "127.0.0.1:0", "-admin", "none"}, "-rebuild")
	if now, err := os.ReadFile(gallery); err != nil || !bytes.Equal(whole, now) {
		t.Errorf("the gallery was replaced: %v", err)
	}
	other := serveOn(t, model, "-epsilon", "8", "-rebuild", "-name", "other")
	if got := other.codebook(t); got.Version != 2 || got.Cells() <= book.Cells() {
		t.Errorf("version %d, %d cells", got.Version, got.Cells())
	}
}

// Whoever has no token stays outside, and the log says nothing of tokens.
func TestServeTokens(t *testing.T) {
	_, model := toyModel(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("a-token-of-the-test\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveOn(t, model, "-epsilon", "4", "-tokens", tokens, "-rate", "1000")
	get(t, 401, s.Listening+"/v1/gallery")
	get(t, 200, s.Listening+"/v1/gallery", "Authorization: Bearer a-token-of-the-test")
	get(t, 200, s.Admin+"/metrics")
	if _, log := s.end(); strings.Contains(log, "a-token") || !strings.Contains(log, "status=401") {
		t.Errorf("the log:\n%s", log)
	}
}

func TestServeRefused(t *testing.T) {
	folder, model := toyModel(t)
	temp := t.TempDir()
	empty := filepath.Join(temp, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	gallery := filepath.Join(temp, "a.gallery")
	serveOn(t, model, "-epsilon", "4", "-gallery", gallery).end()
	damaged := filepath.Join(temp, "damaged.gallery") // in an answer, which opening does not look at
	whole := []byte(readFile(t, gallery))
	whole[len(whole)-5000] ^= 1
	if err := os.WriteFile(damaged, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	limits := func(text string) string { return textFile(t, text) }
	for _, c := range []struct {
		code int
		args string
		word string
	}{
		{cli.Usage, "", "one MODEL, GALLERY or SHARD"},
		{cli.Usage, model + " " + model, "2 names"},
		{cli.Usage, model, "-epsilon is missing"},
		{cli.Failed, model + " -epsilon 4 -gallery " + model, "another kind"},
		{cli.Failed, model + " -epsilon 4 -max-memory 10K -gallery " + filepath.Join(temp, "b.gallery"), "-max-memory allows more"},
		{cli.Usage, gallery + " -epsilon 4", "-epsilon is for a MODEL"},
		{cli.Usage, gallery + " -share 0.2", "-share is for a MODEL"},
		{cli.Failed, filepath.Join(temp, "absent"), "absent"},
		{cli.Failed, empty, "empty"},
		{cli.Failed, damaged, "the checksum of section"},
		{cli.Failed, filepath.Join(folder, files.FeaturesName), "features.npy"},
		{cli.Usage, gallery + " -listen 0.0.0.0:0", "-insecure"},
		{cli.Usage, gallery + " -listen :0", "-insecure"},
		{cli.Usage, gallery + " -listen example.org:80", "-insecure"},
		{cli.Usage, gallery + " -listen 8480", "a host and a port"},
		{cli.Usage, gallery + " -admin 0.0.0.0:0", "read metrics and profiles"},
		{cli.Usage, gallery + " -admin :0", "-insecure"},
		{cli.Usage, gallery + " -admin example.org:80", "-insecure"},
		{cli.Usage, gallery + " -admin 0.0.0.0:0 -tls-cert " + empty + " -tls-key " + empty, "without TLS"},
		{cli.Usage, gallery + " -admin 8481", "a host and a port"},
		{cli.Usage, gallery + " -client-share 0", "-client-share"},
		{cli.Usage, gallery + " -client-share 1.5", "up to 1"},
		{cli.Failed, gallery + " -listen 127.0.0.1:999999", "-listen"},
		{cli.Failed, gallery + " -listen 127.0.0.1:0 -admin 127.0.0.1:999999", "-admin"},
		{cli.Usage, gallery + " -tls-cert x", "go together"},
		{cli.Usage, gallery + " -client-ca x", "-client-ca needs"},
		{cli.Failed, gallery + " -tls-cert " + empty + " -tls-key " + empty, "certificates"},
		{cli.Failed, gallery + " -tokens " + empty, "no token"},
		{cli.Usage, gallery + " -limits " + limits(`{"burst": 3}`), "needs -rate"},
		{cli.Failed, gallery + " -limits " + limits(`{"stall": "-1s"}`), "\"stall\": want a time"},
		{cli.Failed, gallery + " -limits " + limits(`{"read": "0s"}`), "\"read\": want a time above 0"},
		{cli.Failed, gallery + " -limits " + limits(`{"sealed_wait": 5}`), "\"sealed_wait\": want a time"},
		{cli.Failed, gallery + " -limits " + limits(`{"connections": 0}`), "\"connections\": want a whole number"},
		{cli.Failed, gallery + " -limits " + limits(`{"burts": 3}`), "no such limit"},
		{cli.Failed, gallery + " -limits " + limits(`{"drain": "5m"} trailing`), "something follows"},
		{cli.Failed, gallery + " -limits " + limits(`{"drain": "5m"`), "want an object of JSON"},
		{cli.Failed, gallery + " -limits " + limits(`{"drain": "5m", "drain": "6m"}`), "\"drain\": it is there twice"},
		{cli.Failed, gallery + " -limits " + limits(`null`), "it is not an object"},
		{cli.Failed, gallery + " -limits " + limits(`[]`), "an object of JSON"},
		{cli.Failed, gallery + " -limits " + filepath.Join(temp, "none"), "no such file"},
		{cli.Usage, gallery + " -drain 1s", "-limits FILE has it"},
	} {
		args := strings.Fields(c.args)
		if !slices.Contains(args, "-listen") {
			args = append(args, "-listen", "127.0.0.1:0")
		}
		if !slices.Contains(args, "-admin") {
			args = append(args, "-admin", "none")
		}
		refuseServe(t, c.code, args, c.word)
	}
}

// With -log json all that goes to standard error is JSON: notes, progress, requests, what packages of
// the language say, and the error that ends the program, which has its level.
func TestServeLogIsJSON(t *testing.T) {
	_, model := toyModel(t)
	gallery := filepath.Join(t.TempDir(), "a.gallery")
	records := func(text string) (all []map[string]any) {
		t.Helper()
		for line := range strings.Lines(text) {
			var r map[string]any
			if err := json.Unmarshal([]byte(line), &r); err != nil || r["time"] == nil || r["level"] == nil || r["msg"] == "" {
				t.Errorf("no record: %q", line)
			}
			all = append(all, r)
		}
		return all
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var message clitest.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- program().Run(ctx, []string{"serve", model, "-epsilon", "4", "-gallery", gallery, "-listen", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-log", "json"}, io.Discard, &message)
	}()
	for end := time.Now().Add(time.Minute); !strings.Contains(message.String(), "metrics and status on"); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not ready: %s", message.String())
		}
	}
	log.Print("something of net/http\n\nof two lines")
	cancel()
	if code := <-ended; code != cli.OK {
		t.Errorf("exit code %d", code)
	}
	words := ""
	for _, r := range records(message.String()) {
		words += r["msg"].(string) + "\n"
	}
	for _, want := range []string{"listening on http://", "gallery published", "something of net/http\nof two lines"} {
		if !strings.Contains(words, want) || strings.Contains(words, "serve: ") {
			t.Errorf("no %q in\n%s", want, words)
		}
	}
	for _, args := range [][]string{{filepath.Join(t.TempDir(), "absent")}, {gallery, "-listen", "0.0.0.0:0"}} {
		var message clitest.Buffer
		if code := program().Run(t.Context(), append([]string{"serve", "-log", "json", "-admin", "127.0.0.1:0"}, args...), io.Discard, &message); code == cli.OK {
			t.Errorf("%q: exit code 0", args)
		}
		all := records(message.String())
		if len(all) == 0 || all[len(all)-1]["level"] != "ERROR" {
			t.Errorf("%q: %s", args, message.String())
		}
	}
}
