package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// newCells returns cells of a small gallery, a version of its own for each number.
func newCells(t testing.TB, number uint64) *server.Cells {
	t.Helper()
	x := blas64.General{Rows: 240, Cols: 3, Stride: 3}
	for i := range x.Rows {
		angle := 2 * math.Pi * float64(i) / float64(x.Rows)
		x.Data = append(x.Data, math.Cos(angle), math.Sin(angle), float64(i%7)/10)
	}
	c, err := server.NewCells(context.Background(), x, x, server.CellsSettings{Epsilon: 4, Version: number})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// start returns a service with a gallery and a client of its public handler.
func start(t testing.TB, settings Settings) (*Service, *httptest.Server) {
	t.Helper()
	s, err := New(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(Offer{Name: "birds", Cells: newCells(t, 1), Map: []byte(`{"columns":3}`)}); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Public())
	t.Cleanup(func() {
		web.Close()
		s.Close()
		for _, r := range routes() {
			if n := s.metrics.route(r.name).codes[0].Load(); n > 0 {
				t.Errorf("%d answers of route %s have a status that it does not declare", n, r.name)
			}
		}
	})
	return s, web
}

// A reply is an answer that was read whole.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request with headers, each "Name: value".
func send(t testing.TB, method, url string, body io.Reader, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	// A transport of its own would ask for gzip and undo it.
	answer, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{answer.StatusCode, answer.Header, text}
}

// frame returns the binary form of a request for cells of the newest version.
func (s *Service) frame(t testing.TB, cells ...uint32) []byte {
	t.Helper()
	v, p := s.take(nil)
	if p != nil {
		t.Fatal(p)
	}
	defer s.give(v)
	b, err := (&wire.CellsRequest{Codebook: v.cells.hash, Cells: cells}).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wantProblem checks that an answer is a problem of a kind and nothing else.
func wantProblem(t testing.TB, r reply, status int, kind string) problem {
	t.Helper()
	var p problem
	if err := json.Unmarshal(r.body, &p); err != nil || r.status != status || p.Status != status || p.Type != "urn:privatemail:"+kind ||
		r.header.Get("Content-Type") != "application/problem+json" || p.Title == "" {
		t.Errorf("want %d %s, got %d %q %v", status, kind, r.status, r.body, r.header)
	}
	for _, name := range []string{"ETag", "Content-Encoding"} {
		if r.header.Get(name) != "" {
			t.Errorf("a problem with the header %s", name)
		}
	}
	if again := status == 503 || status == 429; again != (r.header.Get("Retry-After") != "") {
		t.Errorf("status %d with Retry-After %q", status, r.header.Get("Retry-After"))
	}
	return p
}

func TestGalleryIsDescribed(t *testing.T) {
	s, web := start(t, Settings{})
	r := send(t, "GET", web.URL+"/v1/gallery", nil)
	var d description
	if err := json.Unmarshal(r.body, &d); err != nil || r.status != 200 || r.header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %q %v", r.status, r.body, err)
	}
	v, _ := s.take(nil)
	defer s.give(v)
	book := v.gallery.Cells.Codebook()
	hash, err := book.Hash()
	if err != nil || d.Codebook != hex.EncodeToString(hash[:]) || d.Name != "birds" || d.Version != 1 || d.Rows != 240 || *d.Space != (dimensions{3, 3}) ||
		!slices.Equal(d.Encodings, []string{"float32", "int8"}) || !slices.Equal(d.Modes, []string{"cells", "all"}) {
		t.Errorf("%+v", d)
	}
	// What is announced is what comes.
	for path, want := range map[string]int64{
		"/v1/codebook": int64(d.Bytes.Codebook), "/v1/map": int64(d.Bytes.Map), "/v1/rows": d.Bytes.Rows,
		"/v1/base": d.Bytes.Base["float32"], "/v1/base?encoding=int8": d.Bytes.Base["int8"],
	} {
		if r := send(t, "GET", web.URL+path, nil); int64(len(r.body)) != want || want == 0 {
			t.Errorf("%s: %d bytes, announced %d", path, len(r.body), want)
		}
	}
	for _, f := range encodings {
		if r := send(t, "POST", web.URL+"/v1/cells?encoding="+f.String(), bytes.NewReader(s.frame(t, 3))); int64(len(r.body)) != d.Bytes.Answer[f.String()] {
			t.Errorf("%v: %d bytes, announced %d", f, len(r.body), d.Bytes.Answer[f.String()])
		}
	}
}

// Messages are those of the gallery, whole, in ranges, or not sent when the client has them.
func TestMessages(t *testing.T) {
	s, web := start(t, Settings{})
	v, _ := s.take(nil)
	defer s.give(v)
	cells := v.gallery.Cells
	frame := func(m interface{ MarshalBinary() ([]byte, error) }) []byte {
		b, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for path, want := range map[string][]byte{
		"/v1/codebook":                         frame(cells.Codebook()),
		"/v1/base":                             frame(cells.Base(wire.Float32)),
		"/v1/base?encoding=float32":            frame(cells.Base(wire.Float32)),
		"/v1/base?encoding=int8":               frame(cells.Base(wire.Int8)),
		"/v1/rows":                             cells.AllRowsFrame(),
		"/v1/map":                              []byte(`{"columns":3}`),
		"/v1/rows?codebook=" + v.says.Codebook: cells.AllRowsFrame(),
		"/v1/codebook?codebook=" + v.says.Codebook: frame(cells.Codebook()),
	} {
		url := web.URL + path
		whole := send(t, "GET", url, nil, "Accept-Encoding: gzip, br, zstd")
		sum := sha256.Sum256(want)
		etag := `"` + hex.EncodeToString(sum[:]) + `"`
		h := whole.header
		if whole.status != 200 || !bytes.Equal(whole.body, want) || h.Get("ETag") != etag || h.Get("Content-Length") != strconv.Itoa(len(want)) ||
			h.Get("Content-Encoding") != "" || h.Get("Accept-Ranges") != "bytes" || !strings.Contains(h.Get("Cache-Control"), "no-transform") {
			t.Fatalf("%s: %d, %d bytes, %v", path, whole.status, len(whole.body), h)
		}
		if r := send(t, "HEAD", url, nil); r.status != 200 || len(r.body) != 0 || r.header.Get("ETag") != etag || r.header.Get("Content-Length") != strconv.Itoa(len(want)) {
			t.Errorf("HEAD %s: %d %v", path, r.status, r.header)
		}
		if r := send(t, "GET", url, nil, "If-None-Match: "+etag); r.status != 304 || len(r.body) != 0 {
			t.Errorf("%s: has it, and gets %d with %d bytes", path, r.status, len(r.body))
		}
		// What was begun is finished, if it is still the same.
		half := len(want) / 2
		rest := "Range: bytes=" + strconv.Itoa(half) + "-"
		if r := send(t, "GET", url, nil, rest, "If-Range: "+etag); r.status != 206 || !bytes.Equal(r.body, want[half:]) {
			t.Errorf("%s: the rest: %d, %d bytes", path, r.status, len(r.body))
		}
		if r := send(t, "GET", url, nil, rest, `If-Range: "another"`); r.status != 200 || !bytes.Equal(r.body, want) {
			t.Errorf("%s: the rest of something else: %d, %d bytes", path, r.status, len(r.body))
		}
		if r := send(t, "GET", url, nil, "Range: bytes=0-0,2-3"); r.status != 200 || !bytes.Equal(r.body, want) {
			t.Errorf("%s: several ranges: %d, %d bytes", path, r.status, len(r.body))
		}
		if r := send(t, "GET", url, nil, `If-Match: "another"`); r.status != 200 || !bytes.Equal(r.body, want) {
			t.Errorf("%s: If-Match: %d, %d bytes", path, r.status, len(r.body))
		}
		r := send(t, "GET", url, nil, "Range: bytes="+strconv.Itoa(len(want))+"-")
		wantProblem(t, r, 416, "range")
		if got := r.header.Get("Content-Range"); got != "bytes */"+strconv.Itoa(len(want)) {
			t.Errorf("%s: Content-Range %q", path, got)
		}
	}
}

// The service sends what the server would answer in process, for every cell and encoding, and
// an answer has one length.
func TestCellsAnswers(t *testing.T) {
	s, web := start(t, Settings{})
	v, _ := s.take(nil)
	defer s.give(v)
	book := v.gallery.Cells.Codebook()
	for _, encoding := range encodings {
		for cell := range uint32(book.Cells()) {
			request := &wire.CellsRequest{Codebook: v.cells.hash, Cells: []uint32{cell}}
			var want bytes.Buffer
			if _, err := v.gallery.Cells.WriteAnswer(&want, request, encoding); err != nil {
				t.Fatal(err)
			}
			r := send(t, "POST", web.URL+"/v1/cells?encoding="+encoding.String(), bytes.NewReader(s.frame(t, cell)), "Accept-Encoding: gzip, br, zstd")
			h := r.header
			if r.status != 200 || !bytes.Equal(r.body, want.Bytes()) || h.Get("Content-Length") != strconv.FormatInt(book.AnswerBytes(encoding), 10) ||
				h.Get("Content-Encoding") != "" || h.Get("Cache-Control") != "no-store, no-transform" || h.Get("Content-Type") != "application/octet-stream" || h.Get("ETag") != "" {
				t.Fatalf("%v, cell %d: %d, %d bytes, %v", encoding, cell, r.status, len(r.body), h)
			}
			var answer wire.CellsAnswer
			if err := answer.UnmarshalBinary(r.body); err != nil || answer.Cells[0] != cell {
				t.Fatalf("%v, cell %d: %v", encoding, cell, err)
			}
		}
	}
}

// Everything that is refused is a problem, and its text holds nothing of the request.
func TestRefused(t *testing.T) {
	s, web := start(t, Settings{})
	good := s.frame(t, 3)
	other, err := (&wire.CellsRequest{Codebook: wire.Hash{1}, Cells: []uint32{3}}).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(good)
	flipped[len(flipped)/2] ^= 1
	codebook := send(t, "GET", web.URL+"/v1/codebook", nil).body
	chunked := func(b []byte) io.Reader { return io.MultiReader(bytes.NewReader(b)) }
	for _, c := range []struct {
		method, path string
		body         io.Reader
		status       int
		kind         string
	}{
		{"GET", "/v1", nil, 404, "not-found"},
		{"GET", "/v2/cells", nil, 404, "not-found"},
		{"DELETE", "/v1/rows", nil, 405, "method"},
		{"GET", "/v1/cells", nil, 405, "method"},
		{"POST", "/", nil, 405, "method"},
		{"BREW", "/v1/base", nil, 405, "method"},
		{"GET", "/v1/base?encoding=float16", nil, 400, "bad-parameter"},
		{"POST", "/v1/cells?encoding=1", bytes.NewReader(good), 400, "bad-parameter"},
		{"GET", "/v1/rows?codebook=12", nil, 400, "bad-parameter"},
		{"GET", "/v1/rows?codebook=" + strings.Repeat("x", 64), nil, 400, "bad-parameter"},
		{"GET", "/v1/rows?codebook=" + strings.Repeat("0", 64), nil, 409, "stale-codebook"},
		{"GET", "/v1/base?codebook=" + strings.Repeat("0", 64), nil, 409, "stale-codebook"},
		{"POST", "/v1/cells", bytes.NewReader(other), 409, "stale-codebook"},
		{"POST", "/v1/cells", nil, 400, "bad-frame"},
		{"POST", "/v1/cells", strings.NewReader("hello"), 400, "bad-frame"},
		{"POST", "/v1/cells", bytes.NewReader(good[:len(good)-1]), 400, "bad-frame"},
		{"POST", "/v1/cells", bytes.NewReader(flipped), 400, "bad-frame"},
		{"POST", "/v1/cells", bytes.NewReader(s.frame(t, 3, 4)), 413, "too-large"},
		{"POST", "/v1/cells", bytes.NewReader(codebook), 413, "too-large"},
		{"POST", "/v1/cells", chunked(append(slices.Clone(good), 0)), 413, "too-large"},
		{"POST", "/v1/cells", bytes.NewReader(s.frame(t, 1<<19)), 422, "unanswerable"},
	} {
		r := send(t, c.method, web.URL+c.path, c.body)
		p := wantProblem(t, r, c.status, c.kind)
		if t.Failed() {
			t.Fatalf("%s %s", c.method, c.path)
		}
		if stale := c.kind == "stale-codebook"; stale != (p.Codebook != "") || stale && (p.Version != 1 || !strings.Contains(string(send(t, "GET", web.URL+"/v1/gallery", nil).body), p.Codebook)) {
			t.Errorf("%s %s: codebook %q, version %d", c.method, c.path, p.Codebook, p.Version)
		}
		if c.kind == "method" && r.header.Get("Allow") == "" {
			t.Errorf("%s %s: no header Allow", c.method, c.path)
		}
		if strings.Contains(string(r.body), strconv.Itoa(1<<19)) {
			t.Errorf("%s %s: the problem names a cell: %s", c.method, c.path, r.body)
		}
	}
	if r := send(t, "POST", web.URL+"/v1/cells", chunked(good)); r.status != 200 {
		t.Errorf("a body of unknown length: %d %s", r.status, r.body)
	}
}

// A service without a gallery is there, and says that it is not ready.
func TestNotReady(t *testing.T) {
	s, err := New(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	web, admin := httptest.NewServer(s.Public()), httptest.NewServer(s.Admin())
	defer web.Close()
	defer admin.Close()
	for _, path := range []string{"/v1/gallery", "/v1/codebook", "/v1/base", "/v1/rows", "/v1/map"} {
		wantProblem(t, send(t, "GET", web.URL+path, nil), 503, "not-ready")
	}
	wantProblem(t, send(t, "POST", web.URL+"/v1/cells", strings.NewReader("x")), 503, "not-ready")
	status := func(want int, paths ...string) {
		t.Helper()
		for _, path := range paths {
			if r := send(t, "GET", admin.URL+path, nil); r.status != want {
				t.Errorf("%s: %d %s", path, r.status, r.body)
			}
		}
	}
	status(503, "/readyz")
	status(200, "/livez", "/", "/metrics", "/debug/pprof/")
	if err := s.Publish(Offer{Cells: newCells(t, 1)}); err != nil {
		t.Fatal(err)
	}
	status(200, "/readyz")
	wantProblem(t, send(t, "GET", web.URL+"/v1/map", nil), 404, "not-offered")
	s.Close()
	status(503, "/readyz")
	status(200, "/livez")
}

func TestSettingsRefused(t *testing.T) {
	for _, s := range []Settings{
		{MaxRequests: -1}, {SealedMost: -1}, {SealedBytes: -1}, {Slowest: -1}, {Rate: -1}, {Rate: math.NaN()}, {Rate: math.Inf(1)},
		{Burst: -1, Rate: 1}, {Burst: 1}, {Header: -1}, {Read: -1}, {Idle: -1}, {Stall: -1}, {Delay: -1}, {Shutdown: -1},
	} {
		if _, err := New(s); !isA(err, ErrSettings) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// Whatever the body is, the service answers it or says what is wrong with it.
func FuzzCells(f *testing.F) {
	s, web := start(f, Settings{})
	web.Close()
	f.Add(s.frame(f, 3))
	f.Add(s.frame(f, 1<<19))
	f.Add([]byte("PMW1"))
	public := s.Public()
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		public.ServeHTTP(w, httptest.NewRequest("POST", "/v1/cells", bytes.NewReader(body)))
		r := reply{w.Code, w.Header(), w.Body.Bytes()}
		switch r.status {
		case 200:
			var answer wire.CellsAnswer
			if err := answer.UnmarshalBinary(r.body); err != nil {
				t.Error(err)
			}
		case 400:
			wantProblem(t, r, 400, "bad-frame")
		case 409:
			wantProblem(t, r, 409, "stale-codebook")
		case 413:
			wantProblem(t, r, 413, "too-large")
		default:
			wantProblem(t, r, 422, "unanswerable")
		}
	})
}
