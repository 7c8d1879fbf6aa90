package service

import (
	"crypto/rand"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
)

// Long messages next to a server that only writes as many bytes, taken in turns: of-bare is the
// share of its throughput, in the quarter of the turns that was least disturbed.
//
//	go test ./retrieval/service -run '^$' -bench Messages -benchtime 200x
func BenchmarkMessages(b *testing.B) {
	const rows, columns = 60_000, 32
	x := blas32.General{Rows: rows, Cols: columns, Stride: columns, Data: make([]float32, rows*columns)}
	for i := range x.Data {
		x.Data[i] = float32(i*7919%104729)/104729 - .5
	}
	cells, err := server.NewCells(b.Context(), x, x, server.CellsSettings{Cells: 8, Encoded: -1})
	if err != nil {
		b.Fatal(err)
	}
	sealed, err := sealedserver.New(b.Context(), x, sealedserver.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(Settings{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	if err := s.Publish(Offer{Name: "bench", Cells: cells, Sealed: sealed}); err != nil {
		b.Fatal(err)
	}
	for name, path := range map[string]string{"all": "/v1/rows", "hint": "/v1/sealed/hint"} {
		b.Run(name, func(b *testing.B) {
			ours := listenTo(b, s.Public())
			length := take(b, ours+path)
			bytes := make([]byte, length)
			rand.Read(bytes) // never fails
			bare := listenTo(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", strconv.FormatInt(length, 10))
				w.Write(bytes)
			}))
			take(b, bare)
			b.SetBytes(length)
			var own, other []time.Duration
			for b.Loop() {
				begin := time.Now()
				take(b, ours+path)
				between := time.Now()
				take(b, bare)
				own, other = append(own, between.Sub(begin)), append(other, time.Since(between))
			}
			slices.Sort(own)
			slices.Sort(other)
			calm := len(own) / 4 // others on the machine disturb the slower ones
			b.ReportMetric(float64(other[calm])/float64(own[calm]), "of-bare")
		})
	}
}

// listenTo returns the address of a handler.
func listenTo(b *testing.B, h http.Handler) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: h}
	go server.Serve(l)
	b.Cleanup(func() { server.Close() })
	return "http://" + l.Addr().String()
}

// take reads an answer and returns its length.
func take(b *testing.B, url string) int64 {
	b.Helper()
	answer, err := http.Get(url)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, answer.Body, make([]byte, 256<<10))
	if err != nil || answer.StatusCode != http.StatusOK {
		b.Fatal(answer.Status, err)
	}
	return n
}
