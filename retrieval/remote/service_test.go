package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/wiretap"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

const galleryDim = 8

// galleryRow is row i of galleries and of queries, which have other numbers.
func galleryRow(i int) []float64 {
	row := make([]float64, galleryDim)
	for j := range row {
		row[j] = math.Sin(float64(i*galleryDim+j+1)) / 2
	}
	return row
}

// newCells returns the server of a gallery. Another seed has another codebook.
func newCells(t testing.TB, seed uint64) *server.Cells {
	t.Helper()
	x := blas64.General{Rows: 600, Cols: galleryDim, Stride: galleryDim}
	for i := range x.Rows {
		x.Data = append(x.Data, galleryRow(i)...)
	}
	c, err := server.NewCells(t.Context(), x, x, server.CellsSettings{Epsilon: 4, Version: seed})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serve starts a service behind a tap.
func serve(t *testing.T, cells *server.Cells, chart []byte, settings service.Settings) (*service.Service, *wiretap.Tap, string) {
	t.Helper()
	s, err := service.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(service.Offer{Name: "test", Cells: cells, Map: chart}); err != nil {
		t.Fatal(err)
	}
	tap := wiretap.Listen(t)
	h := &httptest.Server{Listener: tap, Config: &http.Server{Handler: s.Public()}}
	h.Start()
	t.Cleanup(h.Close)
	return s, tap, h.URL
}

func newClient(t *testing.T, book *wire.Codebook) *client.Cells {
	t.Helper()
	hash, err := book.Hash()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.NewCells(book, client.CellsSettings{Codebook: hash, Epsilon: 2, Ledger: mechanism.NoLedger, Memory: client.NewMemory()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func recordOf(t *testing.T, row []float64) client.RecordID {
	t.Helper()
	record, err := client.ByContent(row)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// Everything is the same over the network as in one process, from the server and from the
// cache.
func TestSameAsInProcess(t *testing.T) {
	cells := newCells(t, 1)
	chart, err := json.Marshal(supervised.Map{Dim: galleryDim, UnitRows: true})
	if err != nil {
		t.Fatal(err)
	}
	_, tap, address := serve(t, cells, chart, service.Settings{})
	hash, err := cells.Codebook().Hash()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, from := range []string{"server", "cache"} {
		s := reachAt(t, address, Settings{Cache: folder, Codebook: hash})
		var transport client.Transport = s
		book, err := transport.Codebook(t.Context())
		if err != nil || !reflect.DeepEqual(book, cells.Codebook()) {
			t.Fatalf("%s: codebook: %v", from, err)
		}
		if m, err := s.Map(t.Context(), hash); err != nil || m == nil || m.Dim() != galleryDim {
			t.Errorf("%s: map %v, %v", from, m, err)
		}
		gallery, err := transport.Gallery(t.Context(), hash)
		if err != nil {
			t.Fatal(err)
		}
		if frame, err := gallery.MarshalBinary(); err != nil || !bytes.Equal(frame, cells.AllRowsFrame()) {
			t.Errorf("%s: the gallery is another: %v", from, err)
		}
		for _, encoding := range []wire.Encoding{wire.Float32, wire.Int8} {
			base, err := transport.Base(t.Context(), hash, encoding)
			if err != nil || !reflect.DeepEqual(base, cells.Base(encoding)) {
				t.Errorf("%s: base: %v", from, err)
			}
		}
		if from == "cache" {
			for _, b := range tap.Came() {
				if len(b) > 0 {
					t.Errorf("sent in spite of the cache:\n%s", b)
				}
			}
		}
		for _, encoding := range []wire.Encoding{wire.Float32, wire.Int8} {
			for cell := range uint32(book.Cells()) {
				request := &wire.CellsRequest{Codebook: hash, Cells: []uint32{cell}}
				want, err := cells.Answer(request, encoding)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := transport.Cells(t.Context(), request, encoding); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: answer: %v", from, err)
				}
			}
		}
		if len(s.warnings) > 0 {
			t.Error(s.warnings)
		}
		s.Close()
		tap.Forget()
	}
	d, err := reachAt(t, address, Settings{}).Describe(t.Context())
	if err != nil || d.Name != "test" || d.MapBytes != int64(len(chart)) || d.BaseBytes[wire.Int8] < 1 || d.BaseBytes[wire.Float32] < d.BaseBytes[wire.Int8] {
		t.Errorf("%+v, %v", d, err)
	}
}

// A gallery without a map has none, and that is remembered.
func TestNoMap(t *testing.T) {
	cells := newCells(t, 1)
	_, tap, address := serve(t, cells, nil, service.Settings{})
	folder := t.TempDir()
	for range 2 {
		s := reachAt(t, address, Settings{Cache: folder})
		book, err := s.Codebook(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hash, _ := book.Hash()
		if m, err := s.Map(t.Context(), hash); m != nil || err != nil {
			t.Errorf("%v, %v", m, err)
		}
	}
	if n := bytes.Count(bytes.Join(tap.Came(), nil), []byte("GET /v1/map")); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// requests parses what clients have sent, and refuses headers that nobody expects.
func requests(t *testing.T, tap *wiretap.Tap) (all []*http.Request, bodies [][]byte) {
	t.Helper()
	expected := []string{"Accept-Encoding", "Authorization", "Content-Length", "Content-Type", "If-Range", "Range", "User-Agent"}
	for _, sent := range tap.Came() {
		r := bufio.NewReader(bytes.NewReader(sent))
		for {
			request, err := http.ReadRequest(r)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(request.Body)
			if err != nil {
				t.Fatal(err)
			}
			for name := range request.Header {
				if !slices.Contains(expected, name) {
					t.Errorf("%s %s has the header %s", request.Method, request.URL, name)
				}
			}
			if request.Header.Get("Accept-Encoding") != "identity" || request.UserAgent() != "privatemail" {
				t.Errorf("%s %s: headers %v", request.Method, request.URL, request.Header)
			}
			all, bodies = append(all, request), append(bodies, body)
		}
	}
	return all, bodies
}

// A map that must not be applied to private rows is refused, and is not kept.
func TestMapOutOfRange(t *testing.T) {
	cells := newCells(t, 1)
	for _, far := range []float64{1e49, 1e-49} {
		scale := make([]float64, galleryDim)
		scale[1] = far
		chart, err := json.Marshal(supervised.Map{Dim: galleryDim, Scale: scale})
		if err != nil {
			t.Fatal(err)
		}
		_, _, address := serve(t, cells, chart, service.Settings{})
		s := reachAt(t, address, Settings{Cache: t.TempDir()})
		book, err := s.Codebook(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hash, _ := book.Hash()
		for range 2 {
			if m, err := s.Map(t.Context(), hash); m != nil || !errors.Is(err, supervised.ErrRange) || !errors.Is(err, ErrResponse) {
				t.Errorf("%g: %v, %v", far, m, err)
			}
		}
		if kept, _, _ := s.Cached(hash, wire.Float32); kept >= 0 {
			t.Errorf("%g: the cache has %d bytes of the map", far, kept)
		}
		x := blas64.General{Rows: 8, Cols: galleryDim, Stride: galleryDim}
		for i := range x.Rows {
			x.Data = append(x.Data, galleryRow(i)...)
		}
		g, err := sealedserver.New(t.Context(), x, sealedserver.Settings{Map: chart})
		if err != nil {
			t.Fatal(err)
		}
		v, err := service.New(service.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		if err := v.Publish(service.Offer{Sealed: g}); err != nil {
			t.Fatal(err)
		}
		s = reach(t, v.Public(), Settings{})
		if _, err := s.SealedManifest(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m, err := s.SealedMap(t.Context(), g.Epoch()); m != nil || !errors.Is(err, supervised.ErrRange) || !errors.Is(err, ErrResponse) {
			t.Errorf("%g: %v, %v", far, m, err)
		}
	}
}

// Of a query nothing but the message that was released is on the wire: no feature, no image
// under the map, no cell that was not drawn. The same query sends the same bytes again.
func TestWireHoldsMessagesOnly(t *testing.T) {
	cells := newCells(t, 1)
	chart, err := json.Marshal(supervised.Map{Dim: galleryDim, UnitRows: true})
	if err != nil {
		t.Fatal(err)
	}
	_, tap, address := serve(t, cells, chart, service.Settings{})
	s := reachAt(t, address, Settings{Cache: t.TempDir()})
	book, err := s.Codebook(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, book)
	hash, _ := book.Hash()
	var first []byte
	for round := range 3 {
		if _, err := s.Map(t.Context(), hash); err != nil {
			t.Fatal(err)
		}
		var want [][]byte
		var traces []wiretap.Trace
		for _, encoding := range []wire.Encoding{wire.Float32, wire.Int8} {
			sample, err := s.Base(t.Context(), hash, encoding)
			if err != nil {
				t.Fatal(err)
			}
			base, err := c.NewBase(sample)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 20 {
				features := galleryRow(10_000 + i)
				z := unit(features)
				traces = append(append(traces, wiretap.Traces(features)...), wiretap.Traces(z)...)
				request, err := c.Ask(recordOf(t, features), z)
				if err != nil {
					t.Fatal(err)
				}
				frame, err := request.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, frame)
				answer, err := s.Cells(t.Context(), request, encoding)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.Rank(z, 8, request, answer, base); err != nil {
					t.Fatal(err)
				}
			}
		}
		all, bodies := requests(t, tap)
		var got [][]byte
		for i, r := range all {
			switch {
			case r.Method == http.MethodPost && r.URL.Path == "/v1/cells" && (r.URL.RawQuery == "encoding=float32" || r.URL.RawQuery == "encoding=int8"):
				got = append(got, bodies[i])
			case r.Method == http.MethodGet && len(bodies[i]) == 0 && round == 0:
			default:
				t.Errorf("round %d: %s %s with %d bytes", round, r.Method, r.URL, len(bodies[i]))
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("round %d: other bytes were sent than released", round)
		}
		came := bytes.Join(tap.Came(), nil)
		for _, b := range [][]byte{came, bytes.Join(tap.Went(), nil)} {
			if found := wiretap.Find(b, traces); found != "" {
				t.Errorf("round %d: a row is on the wire as %s", round, found)
			}
		}
		if round == 1 { // the first has fetched what is in the cache by now
			first = came
		} else if round == 2 && !bytes.Equal(first, came) {
			t.Error("the same queries have sent other bytes")
		}
		tap.Forget()
	}
}

// unit returns a row divided by its norm.
func unit(row []float64) []float64 {
	sum := 0.0
	for _, v := range row {
		sum += v * v
	}
	out := slices.Clone(row)
	for i := range out {
		out[i] /= math.Sqrt(sum)
	}
	return out
}

// A request that is tried again is the same bytes, head and body, until there is an answer.
func TestRetriesResendTheSameBytes(t *testing.T) {
	cells := newCells(t, 1)
	s, _, _ := serve(t, cells, nil, service.Settings{})
	var lock sync.Mutex // of sent: each connection has a goroutine
	var sent []string
	h := reach(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dump, err := httputil.DumpRequest(r, true)
		if err != nil {
			t.Error(err)
		}
		if r.Method == http.MethodPost {
			lock.Lock()
			sent = append(sent, string(dump))
			failures := len(sent)
			lock.Unlock()
			switch failures {
			case 1:
				panic(http.ErrAbortHandler)
			case 2:
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			case 3: // the head and some of the answer
				w.Header().Set("Content-Length", fmt.Sprint(cells.Codebook().AnswerBytes(wire.Int8)))
				w.Write([]byte("PMW1"))
				panic(http.ErrAbortHandler)
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(dump[bytes.Index(dump, []byte("\r\n\r\n"))+4:]))
		s.Public().ServeHTTP(w, r)
	}), Settings{})
	book, err := h.Codebook(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, book)
	request, err := c.Ask(recordOf(t, galleryRow(9999)), galleryRow(9999))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := h.Cells(t.Context(), request, wire.Int8)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Rank(galleryRow(9999), 3, request, answer, nil); err != nil {
		t.Error(err)
	}
	lock.Lock()
	defer lock.Unlock()
	if len(sent) != 4 || len(slices.Compact(slices.Clone(sent))) != 1 {
		t.Errorf("sent %q", sent)
	}
	if len(h.pauses) != 3 || h.pauses[1] < 7e9 {
		t.Errorf("pauses %v", h.pauses)
	}
}

// A gallery that was replaced is an error that says what it costs; under the new codebook
// things go on.
func TestStaleCodebook(t *testing.T) {
	old, next := newCells(t, 1), newCells(t, 2)
	s, _, address := serve(t, old, nil, service.Settings{Drain: -1})
	r := reachAt(t, address, Settings{})
	book, err := r.Codebook(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	request, err := newClient(t, book).Ask(recordOf(t, galleryRow(9999)), galleryRow(9999))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(service.Offer{Name: "next", Cells: next}); err != nil {
		t.Fatal(err)
	}
	nextHash, _ := next.Codebook().Hash()
	for name, err := range map[string]error{
		"cells": second(r.Cells(t.Context(), request, wire.Float32)),
		"base":  second(r.Base(t.Context(), request.Codebook, wire.Int8)),
		"rows":  second(r.Gallery(t.Context(), request.Codebook)),
		"map":   second(r.Map(t.Context(), request.Codebook)),
	} {
		stale, ok := errors.AsType[*StaleError](err)
		if !ok || stale.Asked != request.Codebook || stale.Current != nextHash || !strings.Contains(err.Error(), "spends its epsilon again") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(r.pauses) > 0 {
		t.Error("it was tried again")
	}
	if book, err = r.Codebook(t.Context()); err != nil || book.Version != 2 {
		t.Fatalf("%v, %v", book, err)
	}
	if request, err = newClient(t, book).Ask(recordOf(t, galleryRow(9999)), galleryRow(9999)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Cells(t.Context(), request, wire.Float32); err != nil {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

// Many goroutines may use a Server.
func TestConcurrentCalls(t *testing.T) {
	cells := newCells(t, 1)
	_, _, address := serve(t, cells, nil, service.Settings{})
	s := reachAt(t, address, Settings{Cache: t.TempDir()})
	results := make(chan error)
	const callers = 16
	for i := range callers {
		go func() { results <- fetchAll(t.Context(), s.Server, uint32(i%4)) }()
	}
	for range callers {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if len(s.warnings) > 0 {
		t.Error(s.warnings)
	}
}

func fetchAll(ctx context.Context, s *Server, cell uint32) error {
	book, err := s.Codebook(ctx)
	if err != nil {
		return err
	}
	hash, err := book.Hash()
	if err != nil {
		return err
	}
	_, errBase := s.Base(ctx, hash, wire.Int8)
	_, errRows := s.Gallery(ctx, hash)
	_, errMap := s.Map(ctx, hash)
	_, errCells := s.Cells(ctx, &wire.CellsRequest{Codebook: hash, Cells: []uint32{cell}}, wire.Int8)
	return errors.Join(errBase, errRows, errMap, errCells)
}
