package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/formats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newService returns a service with a generated gallery.
func newService(t *testing.T, o options) *service {
	t.Helper()
	engine, err := privatemail.New(privatemail.WithWorkers(2), privatemail.WithMaxMemory(o.maxMemory))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	g, err := openGallery(t.Context(), engine, o)
	if err != nil {
		t.Fatal(err)
	}
	return &service{engine: engine, gallery: g}
}

// ask sends a body to a handler.
func ask(ctx context.Context, s http.Handler, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/nearest", strings.NewReader(body)))
	return w
}

// Answers equal those of a search by sorting all distances.
func TestNearest(t *testing.T) {
	s := newService(t, options{maxMemory: 1 << 28})
	x, _ := madeUp(5, 8, 6)
	q := question{K: 7}
	for i := range x.Rows {
		q.Rows = append(q.Rows, x.Data[i*8:i*8+8])
	}
	body, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	w := ask(t.Context(), s, string(body))
	var got answer
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || len(got.Nearest) != 5 {
		t.Fatalf("%d %v %s", w.Code, err, w.Body)
	}
	placed, err := s.gallery.model.Map.Apply(x)
	if err != nil {
		t.Fatal(err)
	}
	rows := s.gallery.rows()
	for i, list := range got.Nearest {
		var want []neighbour
		for r := range rows.Rows {
			sum := 0.0
			for j := range rows.Cols {
				e := float64(placed.Data[i*placed.Stride+j]) - float64(rows.Data[r*rows.Stride+j])
				sum += e * e
			}
			want = append(want, neighbour{int64(r), int32(r % 6), float32(math.Sqrt(sum))})
		}
		slices.SortStableFunc(want, func(a, b neighbour) int { return cmp.Compare(a.Distance, b.Distance) })
		if !slices.Equal(list, want[:7]) {
			t.Errorf("query %d: %v, want %v", i, list, want[:7])
		}
	}
}

// Bodies that are not questions are refused, with messages that contain none of their values.
func TestRefusals(t *testing.T) {
	s := newService(t, options{maxMemory: 1 << 28})
	row := "[4242,0,0,0,0,0,0,0]"
	for _, c := range []struct {
		name, body, words string
		code              int
	}{
		{"nothing", "", "want", 400},
		{"no JSON", "4242", "want", 400},
		{"a word", `{"rows": [["4242"]]}`, "want", 400},
		{"too large for float32", `{"rows": [[4242e300]], "k": 1}`, "want", 400},
		{"no rows", `{"rows": [], "k": 1}`, "no rows", 400},
		{"no k", `{"rows": [` + row + `]}`, "k must be", 400},
		{"k beyond the gallery", `{"rows": [` + row + `], "k": 601}`, "600", 400},
		{"a short row", `{"rows": [` + row + `, [4242]], "k": 1}`, "row 2 has 1 values, want 8", 400},
		{"a large body", `{"rows": [` + strings.Repeat(row+",", mostBytes/len(row)+1), "larger", 413},
		{"much memory", `{"rows": [` + strings.Repeat(row+",", 9999) + row + `], "k": 600}`, "memory", 503},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := ask(t.Context(), s, c.body)
			if w.Code != c.code || !strings.Contains(w.Body.String(), c.words) || strings.Contains(w.Body.String(), "4242") {
				t.Errorf("%d %s, want %d with %q", w.Code, w.Body, c.code, c.words)
			}
		})
	}
}

// A request whose sender is gone is not answered.
func TestCancelledRequest(t *testing.T) {
	s := newService(t, options{maxMemory: 1 << 28})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if w := ask(ctx, s, `{"rows": [[0,0,0,0,0,0,0,0]], "k": 1}`); w.Body.Len() != 0 {
		t.Errorf("answered %s", w.Body)
	}
}

// An opened model answers like the fitted one; a model of another gallery is refused.
func TestModelIsKept(t *testing.T) {
	folder := t.TempDir()
	x, labels := madeUp(90, 8, 3)
	o := options{maxMemory: 1 << 28, model: filepath.Join(folder, "model.pm"), features: filepath.Join(folder, "features.npy"), labels: filepath.Join(folder, "labels.npy")}
	if err := formats.WriteMatrix(t.Context(), o.features, x.Rows, x.Cols, x.Data); err != nil {
		t.Fatal(err)
	}
	if err := formats.WriteLabels(t.Context(), o.labels, labels); err != nil {
		t.Fatal(err)
	}
	first := newService(t, o)
	before, err := os.Stat(o.model)
	if err != nil {
		t.Fatal(err)
	}
	second := newService(t, o)
	if after, err := os.Stat(o.model); err != nil || !os.SameFile(before, after) {
		t.Errorf("the second service has fitted a model: %v", err)
	}
	if err := os.Truncate(o.model, 0); err != nil { // this changes no answer
		t.Fatal(err)
	}
	body := `{"rows": [[1,0,0,1,0,0,1,0]], "k": 5}`
	if a, b := ask(t.Context(), first, body), ask(t.Context(), second, body); !bytes.Equal(a.Body.Bytes(), b.Body.Bytes()) || a.Code != http.StatusOK {
		t.Errorf("%d %s, then %s", a.Code, a.Body, b.Body)
	}
	if err := os.Remove(o.model); err != nil {
		t.Fatal(err)
	}
	newService(t, o) // makes another one
	o.features = ""  // 600 rows
	if _, err := openGallery(t.Context(), first.engine, o); err == nil || !strings.Contains(err.Error(), "90 rows") {
		t.Errorf("a model of other rows: %v", err)
	}
}

// The service answers over the network. When it is asked to end it accepts no new requests,
// and answers the one that it has begun to read.
func TestRun(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- run(ctx, options{maxMemory: 1 << 28}, listener) }()
	body, send := io.Pipe()
	begun := func() { // the service asks for the body
		stop()
		go func() {
			for { // until it stops listening
				c, err := net.Dial("tcp", address)
				if err != nil {
					break
				}
				c.Close()
			}
			io.WriteString(send, `{"rows": [[0,0,0,0,0,0,0,0]], "k": 1}`)
			send.Close()
		}()
	}
	traced := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: begun})
	request, err := http.NewRequestWithContext(traced, http.MethodPost, "http://"+address+"/nearest", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Expect", "100-continue")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: time.Minute}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || response.StatusCode != http.StatusOK || !strings.HasPrefix(string(text), `{"nearest":[[{"row":`) {
		t.Errorf("%v %s %s", err, response.Status, text)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
