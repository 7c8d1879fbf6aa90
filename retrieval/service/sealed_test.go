package service

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/recordtest"
	sealedclient "github.com/seed-64e14a55/privatemail/retrieval/sealed/client"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// sealedRows returns rows of unit length, others for each number.
func sealedRows(n int, number uint64) blas64.General {
	x := blas64.General{Rows: n, Cols: 3, Stride: 3}
	for i := range n {
		angle := 2 * math.Pi * (float64(i)/float64(n) + float64(number)/1000)
		x.Data = append(x.Data, math.Cos(angle)*.8, math.Sin(angle)*.8, .6)
	}
	return x
}

// newSealed returns a sealed gallery of 40 rows, an epoch of its own for each number.
func newSealed(t testing.TB, number uint64) *sealedserver.Gallery {
	t.Helper()
	g, err := sealedserver.New(t.Context(), sealedRows(40, number), sealedserver.Settings{Map: []byte(`{"columns":3}`), Cells: 4, Probes: 2})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// newRecords returns records of 40 rows.
func newRecords(t testing.TB, g *sealedserver.Gallery) *sealedserver.Records {
	t.Helper()
	var lines [][]byte
	for i := range 40 {
		lines = append(lines, fmt.Appendf(nil, "row %d", i))
	}
	r, err := sealedserver.NewRecords(t.Context(), g.Epoch(), recordtest.InMemory(lines), sealedserver.RecordsSettings{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// startSealed returns a service that offers mode sealed alone.
func startSealed(t testing.TB, settings Settings) (*Service, *sealedserver.Gallery, *httptest.Server) {
	t.Helper()
	s, err := New(settings)
	if err != nil {
		t.Fatal(err)
	}
	g := newSealed(t, 1)
	if err := s.Publish(Offer{Name: "birds", Sealed: g, Records: newRecords(t, g)}); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Public())
	t.Cleanup(func() {
		web.Close()
		s.Close()
	})
	return s, g, web
}

// frameOf returns the binary form of a message.
func frameOf(t testing.TB, m interface{ MarshalBinary() ([]byte, error) }) []byte {
	t.Helper()
	b, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ask returns the frame of a request of mode sealed for the row at an angle.
func ask(t testing.TB, g *sealedserver.Gallery, row int) (*sealedclient.Client, *sealedclient.Query) {
	t.Helper()
	c, err := sealedclient.New(g.Manifest(), g.Hint(), sealedclient.Settings{Epoch: g.Epoch()})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetIDs(g.IDs()); err != nil {
		t.Fatal(err)
	}
	x := sealedRows(40, 1)
	queries, err := c.Ask(t.Context(), blas64.General{Rows: 1, Cols: 3, Stride: 3, Data: x.Data[3*row:][:3]})
	if err != nil {
		t.Fatal(err)
	}
	return c, queries[0]
}

func TestSealedMessages(t *testing.T) {
	s, g, web := startSealed(t, Settings{})
	records := s.versions[0].gallery.Records
	epoch, own := g.Epoch(), records.Epoch()
	named, ownNamed := "?epoch="+hex.EncodeToString(epoch[:]), "?epoch="+hex.EncodeToString(own[:])
	for path, want := range map[string][]byte{
		"/v1/sealed/manifest":                    frameOf(t, g.Manifest()),
		"/v1/sealed/manifest" + named:            frameOf(t, g.Manifest()),
		"/v1/sealed/hint" + named:                frameOf(t, g.Hint()),
		"/v1/sealed/ids":                         frameOf(t, g.IDs()),
		"/v1/map" + named:                        []byte(`{"columns":3}`),
		"/v1/sealed/records/manifest":            frameOf(t, records.Manifest()),
		"/v1/sealed/records/manifest" + ownNamed: frameOf(t, records.Manifest()),
		"/v1/sealed/records/hint" + ownNamed:     frameOf(t, records.Hint()),
	} {
		whole := send(t, "GET", web.URL+path, nil)
		if whole.status != 200 || !bytes.Equal(whole.body, want) || whole.header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %d, %d bytes, want %d", path, whole.status, len(whole.body), len(want))
		}
		part := send(t, "GET", web.URL+path, nil, "Range: bytes=5-", "If-Range: "+whole.header.Get("ETag"))
		if part.status != 206 || !bytes.Equal(part.body, want[5:]) {
			t.Errorf("%s: %d, a part of %d bytes", path, part.status, len(part.body))
		}
	}
	for _, path := range []string{"manifest", "hint", "ids", "records/hint"} {
		wantProblem(t, send(t, "GET", web.URL+"/v1/sealed/"+path+"?epoch="+strings.Repeat("ab", 32), nil), 409, "stale-epoch")
		wantProblem(t, send(t, "GET", web.URL+"/v1/sealed/"+path+"?epoch=ab", nil), 400, "bad-parameter")
	}
}

// A service without cells says so, and one without mode sealed, too.
func TestModesThatAreNotOffered(t *testing.T) {
	_, _, web := startSealed(t, Settings{})
	for _, path := range []string{"/v1/codebook", "/v1/base", "/v1/rows", "/v1/codebook?codebook=" + strings.Repeat("ab", 32), "/v1/gallery?codebook=" + strings.Repeat("ab", 32)} {
		wantProblem(t, send(t, "GET", web.URL+path, nil), 404, "not-offered")
	}
	wantProblem(t, send(t, "POST", web.URL+"/v1/cells", strings.NewReader("x")), 404, "not-offered")
	var d description
	if err := json.Unmarshal(send(t, "GET", web.URL+"/v1/gallery", nil).body, &d); err != nil || !slices.Equal(d.Modes, []string{"sealed"}) || d.Codebook != "" || d.Sealed == nil || d.Sealed.Records == nil || d.Rows != 40 {
		t.Errorf("%+v %v", d, err)
	}
	_, other := start(t, Settings{})
	for _, path := range []string{"manifest", "hint", "ids", "changes?since=0&to=0", "records/manifest", "records/hint"} {
		wantProblem(t, send(t, "GET", other.URL+"/v1/sealed/"+path, nil), 404, "not-offered")
	}
	for _, path := range []string{"ask", "records/fetch"} {
		wantProblem(t, send(t, "POST", other.URL+"/v1/sealed/"+path, strings.NewReader("x")), 404, "not-offered")
	}
}

// Galleries that clients could not use are refused.
func TestSealedGalleriesThatAreRefused(t *testing.T) {
	s, err := New(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g, other := newSealed(t, 1), newSealed(t, 2)
	for name, wrong := range map[string]Offer{
		"nothing":                    {},
		"records alone":              {Records: newRecords(t, g)},
		"records of another epoch":   {Sealed: g, Records: newRecords(t, other)},
		"another map":                {Sealed: g, Map: []byte(`{"columns":4}`)},
		"records of cells":           {Cells: newCells(t, 1), Records: newRecords(t, g)},
		"cells with another map too": {Cells: newCells(t, 1), Sealed: g, Map: []byte(`{}`)},
	} {
		if err := s.Publish(wrong); err == nil {
			t.Errorf("%s was published", name)
		}
	}
	if err := s.Publish(Offer{Sealed: g}); err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(Offer{Sealed: g}); err == nil {
		t.Error("the same gallery was published twice")
	}
}

// An answer over HTTP has the length of the manifest and finds the row itself.
func TestSealedAsk(t *testing.T) {
	_, g, web := startSealed(t, Settings{})
	c, q := ask(t, g, 7)
	r := send(t, "POST", web.URL+"/v1/sealed/ask", bytes.NewReader(frameOf(t, q.Request())))
	var answer wire.SealedAnswer
	if err := answer.UnmarshalBinary(r.body); err != nil || r.status != 200 || int64(len(r.body)) != g.Manifest().AnswerBytes() || r.header.Get("Cache-Control") != "no-store, no-transform" {
		t.Fatal(r.status, err, len(r.body), r.header)
	}
	found, err := c.Rank(q, &answer, 3)
	if err != nil || len(found) != 3 || found[0].ID != 7 {
		t.Errorf("%v %v", found, err)
	}
}

func TestSealedRequestsThatAreRefused(t *testing.T) {
	_, g, web := startSealed(t, Settings{})
	_, q := ask(t, g, 7)
	good := frameOf(t, q.Request())
	foreign := *q.Request()
	foreign.Epoch[3] ^= 1
	fewer := *q.Request()
	fewer.Count, fewer.Bytes = 1, fewer.Bytes[:len(fewer.Bytes)/2]
	wide := *q.Request()
	wide.Width, wide.Columns = 4, 9
	for name, c := range map[string]struct {
		body   []byte
		status int
		kind   string
	}{
		"truncated":         {good[:len(good)-1], 400, "bad-frame"},
		"empty":             {nil, 400, "bad-frame"},
		"another message":   {frameOf(t, &wire.CellsRequest{Cells: []uint32{1}}), 400, "bad-frame"},
		"changed":           {append(append([]byte{}, good[:80]...), append([]byte{good[80] ^ 1}, good[81:]...)...), 400, "bad-frame"},
		"another epoch":     {frameOf(t, &foreign), 409, "stale-epoch"},
		"fewer ciphertexts": {frameOf(t, &fewer), 422, "unanswerable"},
		"wider words":       {frameOf(t, &wide), 422, "unanswerable"},
		"longer":            {append(bytes.Clone(good), 0), 413, "too-large"},
	} {
		p := wantProblem(t, send(t, "POST", web.URL+"/v1/sealed/ask", bytes.NewReader(c.body)), c.status, c.kind)
		if epoch := g.Epoch(); c.status == 409 && p.Epoch != hex.EncodeToString(epoch[:]) {
			t.Errorf("%s: epoch %q", name, p.Epoch)
		}
	}
	// A query goes with its own path, and so does a fetch.
	wantProblem(t, send(t, "POST", web.URL+"/v1/sealed/records/fetch", bytes.NewReader(good)), 409, "stale-epoch")
}

func TestSealedFetch(t *testing.T) {
	s, g, web := startSealed(t, Settings{})
	records := s.versions[0].gallery.Records
	c, err := sealedclient.NewRecords(records.Manifest(), records.Hint(), sealedclient.RecordsSettings{Gallery: g.Epoch(), Epoch: records.Epoch()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Fetch(t.Context(), []uint32{31, wire.Padding, 2})
	if err != nil {
		t.Fatal(err)
	}
	r := send(t, "POST", web.URL+"/v1/sealed/records/fetch", bytes.NewReader(frameOf(t, f.Request())))
	var answer wire.SealedAnswer
	if err := answer.UnmarshalBinary(r.body); err != nil || int64(len(r.body)) != records.Manifest().AnswerBytes(3) {
		t.Fatal(r.status, err)
	}
	got, err := c.Open(f, &answer)
	if err != nil || string(got[0]) != "row 31" || got[1] != nil || string(got[2]) != "row 2" {
		t.Errorf("%q %v", got, err)
	}
}

// A gallery that grows while it is served: old answers are decrypted with changes.
func TestSealedGrowth(t *testing.T) {
	_, g, web := startSealed(t, Settings{})
	c, q := ask(t, g, 7)
	before := send(t, "GET", web.URL+"/v1/sealed/hint", nil)
	if _, err := g.Insert(sealedRows(40, 1).Data[21:24], 99); err != nil {
		t.Fatal(err)
	}
	r := send(t, "POST", web.URL+"/v1/sealed/ask", bytes.NewReader(frameOf(t, q.Request())))
	var answer wire.SealedAnswer
	if err := answer.UnmarshalBinary(r.body); err != nil || answer.Version != 1 {
		t.Fatal(err, answer.Version)
	}
	if _, err := c.Rank(q, &answer, 2); err == nil {
		t.Fatal("an answer of a version that the client does not have")
	}
	var changes wire.SealedChanges
	if err := changes.UnmarshalBinary(send(t, "GET", web.URL+"/v1/sealed/changes?since=0&to=1", nil).body); err != nil {
		t.Fatal(err)
	}
	if err := c.Update(&changes); err != nil {
		t.Fatal(err)
	}
	found, err := c.Rank(q, &answer, 2)
	if err != nil || len(found) != 2 || found[0].ID+found[1].ID != 7+99 {
		t.Errorf("%v %v", found, err)
	}
	after := send(t, "GET", web.URL+"/v1/sealed/hint", nil)
	var hint wire.SealedHint
	if err := hint.UnmarshalBinary(after.body); err != nil || hint.Version != 1 || before.header.Get("ETag") == after.header.Get("ETag") {
		t.Errorf("hint of version %d, %v", hint.Version, err)
	}
	for query, want := range map[string]struct {
		status int
		kind   string
	}{
		"since=0&to=7": {410, "no-changes"}, "since=1&to=0": {410, "no-changes"},
		"since=0": {400, "bad-parameter"}, "to=1": {400, "bad-parameter"}, "since=-1&to=1": {400, "bad-parameter"},
		"since=0&to=1&epoch=" + strings.Repeat("ab", 32): {409, "stale-epoch"},
	} {
		wantProblem(t, send(t, "GET", web.URL+"/v1/sealed/changes?"+query, nil), want.status, want.kind)
	}
}

// A replaced epoch is answered from until it is retired, whatever the codebook is.
func TestSealedVersions(t *testing.T) {
	s, g, web := startSealed(t, Settings{})
	_, q := ask(t, g, 7)
	frame := frameOf(t, q.Request())
	if err := s.Publish(Offer{Name: "birds", Cells: newCells(t, 1), Sealed: newSealed(t, 2), Map: []byte(`{"columns":3}`)}); err != nil {
		t.Fatal(err)
	}
	if r := send(t, "POST", web.URL+"/v1/sealed/ask", bytes.NewReader(frame)); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	s.retire(s.versions[1])
	wantProblem(t, send(t, "POST", web.URL+"/v1/sealed/ask", bytes.NewReader(frame)), 409, "stale-epoch")
	// The same epoch again, with other cells: the version before stays for its codebook.
	if err := s.Publish(Offer{Name: "birds", Cells: newCells(t, 2), Sealed: newSealed(t, 2), Map: []byte(`{"columns":3}`)}); err != nil {
		t.Fatal(err)
	}
	if len(s.versions) != 2 {
		t.Errorf("%d versions", len(s.versions))
	}
	// And with the same cells: nothing needs the version before.
	if err := s.Publish(Offer{Name: "birds", Cells: newCells(t, 2), Sealed: newSealed(t, 2), Map: []byte(`{"columns":3}`)}); err != nil {
		t.Fatal(err)
	}
	if len(s.versions) != 2 {
		t.Errorf("%d versions", len(s.versions))
	}
}

// Requests that come together share passes, which the metrics count. Neither log nor metrics
// hold anything of a request.
func TestSealedPasses(t *testing.T) {
	var log bytes.Buffer
	var mu sync.Mutex
	s, g, web := startSealed(t, Settings{Log: slog.New(slog.NewJSONHandler(lockedWriter{&mu, &log}, nil))})
	const requests = 12
	var wait sync.WaitGroup
	for i := range requests {
		_, q := ask(t, g, i)
		body := frameOf(t, q.Request())
		wait.Go(func() {
			answer, err := http.Post(web.URL+"/v1/sealed/ask", "application/octet-stream", bytes.NewReader(body))
			if err != nil || answer.StatusCode != 200 {
				t.Error(err)
				return
			}
			answer.Body.Close()
		})
	}
	wait.Wait()
	http.DefaultClient.CloseIdleConnections()
	w := httptest.NewRecorder()
	s.Admin().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/metrics", nil))
	text := w.Body.String()
	for _, line := range []string{
		fmt.Sprintf(`privatemail_sealed_pass_requests_total{over="gallery"} %d`, requests),
		`privatemail_sealed_pass_requests_total{over="records"} 0`, `privatemail_sealed_pass_seconds_count{over="gallery"}`, "privatemail_sealed_version 0",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %s", line)
		}
	}
	page := httptest.NewRecorder()
	s.Admin().ServeHTTP(page, httptest.NewRequest("GET", "http://localhost/", nil))
	if epoch := g.Epoch(); !strings.Contains(page.Body.String(), hex.EncodeToString(epoch[:])) || !strings.Contains(page.Body.String(), "a request of mode sealed") {
		t.Error("the status page does not tell of mode sealed")
	}
	// Fields of a record of the log are those of every request.
	mu.Lock()
	defer mu.Unlock()
	for line := range strings.Lines(log.String()) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		if record["msg"] != "request" {
			continue
		}
		for name := range record {
			if !slices.Contains([]string{"time", "level", "msg", "route", "method", "status", "bytes", "milliseconds", "client", "protocol"}, name) {
				t.Errorf("the log has %s", name)
			}
		}
	}
}

// lockedWriter is for a log that many write to.
type lockedWriter struct {
	mu *sync.Mutex
	to *bytes.Buffer
}

func (w lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}
