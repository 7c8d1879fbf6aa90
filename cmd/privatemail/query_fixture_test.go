package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/internal/wiretap"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A galleryService is a service of 400 rows in 6 dimensions, behind a tap.
type galleryService struct {
	*service.Service
	cells   *server.Cells
	chart   supervised.Map
	tap     *wiretap.Tap
	address string
	hash    wire.Hash
}

const galleryCols = 6

// galleryOf returns the cells of a gallery; each version has a codebook of its own.
func galleryOf(t *testing.T, version uint64) *server.Cells {
	t.Helper()
	x, err := synth.Uniform(400, galleryCols, 7)
	if err != nil {
		t.Fatal(err)
	}
	rows := blas64.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: make([]float64, len(x.Data))}
	for i, v := range x.Data {
		rows.Data[i] = float64(v)
	}
	c, err := server.NewCells(t.Context(), rows, rows, server.CellsSettings{Epsilon: 4, Version: version})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func startService(t *testing.T) *galleryService {
	t.Helper()
	g := &galleryService{cells: galleryOf(t, 1), chart: supervised.Map{Dim: galleryCols, Mean: []float64{.1, .2, .1, .2, .1, .2}}, tap: wiretap.Listen(t)}
	s, err := service.New(service.Settings{Drain: -1})
	if err != nil {
		t.Fatal(err)
	}
	g.Service = s
	g.publish(t, g.cells)
	h := &httptest.Server{Listener: g.tap, Config: &http.Server{Handler: s.Public()}}
	h.Start()
	t.Cleanup(h.Close)
	g.address = h.URL
	return g
}

// publish puts a gallery in the place of the one that is served. Handlers may call it.
func (g *galleryService) publish(t *testing.T, cells *server.Cells) {
	t.Helper()
	chart, err := json.Marshal(g.chart)
	if err == nil {
		err = g.Publish(service.Offer{Name: "birds", Cells: cells, Map: chart})
	}
	if err == nil {
		g.cells = cells
		g.hash, err = cells.Codebook().Hash()
	}
	if err != nil {
		t.Error(err)
	}
}

// sent returns the requests that were sent since it was last called: method and path, and
// the bodies of those that have one.
func (g *galleryService) sent(t *testing.T) (paths []string, bodies [][]byte) {
	t.Helper()
	for _, came := range g.tap.Came() {
		p, b := requestsIn(t, came)
		paths, bodies = append(paths, p...), append(bodies, b...)
	}
	g.tap.Forget()
	return paths, bodies
}

// requestsIn returns the requests of one connection, as sent does.
func requestsIn(t *testing.T, came []byte) (paths []string, bodies [][]byte) {
	t.Helper()
	r := bufio.NewReader(bytes.NewReader(came))
	for {
		request, err := http.ReadRequest(r)
		var body []byte
		if err == nil {
			body, err = io.ReadAll(request.Body)
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF { // the latter of a client that was killed
			return paths, bodies
		}
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, request.Method+" "+request.URL.Path)
		if len(body) > 0 {
			bodies = append(bodies, body)
		}
	}
}

// place is where a run of query keeps its files.
type place struct{ rows, ledger, memory, cache, out string }

// newPlace has rows to ask for, with labels, and a ledger.
func newPlace(t *testing.T, n int) place {
	t.Helper()
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	p := place{at("rows"), at("ledger"), at("memory"), at("cache"), at("ids.npy")}
	x, err := synth.Uniform(n, galleryCols, 99)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(p.rows, 0o777); err != nil {
		t.Fatal(err)
	}
	writeMatrix(t, filepath.Join(p.rows, files.FeaturesName), n, galleryCols, x.Data)
	writeLabels(t, filepath.Join(p.rows, files.LabelsName), make([]int32, n))
	succeed(t, "budget", "create", p.ledger, "-kind", "pure", "-epsilon", "10")
	return p
}

// cells returns the arguments of a run in mode cells.
func (p place) cells(address string, more ...string) []string {
	return append([]string{"query", "cells", address, p.rows, "-epsilon", "4", "-ledger", p.ledger, "-new-units", "-sent", p.memory, "-cache", p.cache, "-unconfirmed-codebook", "-k", "5"}, more...)
}

func (p place) all(address string, more ...string) []string {
	return append([]string{"query", "all", address, p.rows, "-cache", p.cache, "-unconfirmed-codebook", "-k", "5"}, more...)
}

// images returns the rows under the map of the service.
func (p place) images(t *testing.T, g *galleryService) [][]float64 {
	t.Helper()
	x, err := formats.ReadMatrix(filepath.Join(p.rows, files.FeaturesName))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	z, err := g.chart.Apply(blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: x.Data})
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]float64
	for i := range z.Rows {
		rows = append(rows, wide(z, i))
	}
	return rows
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func ledgerAt(t *testing.T, path string) *mechanism.Snapshot {
	t.Helper()
	s, err := mechanism.ReadLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// memoryFiles lists the logs of a memory.
func memoryFiles(t *testing.T, folder string) []string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(folder, "releases-*"))
	if err != nil {
		t.Fatal(err)
	}
	return logs
}

func textFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wide returns a row in float64.
func wide(x blas32.General, i int) []float64 {
	row := make([]float64, x.Cols)
	for j, v := range x.Data[i*x.Stride:][:x.Cols] {
		row[j] = float64(v)
	}
	return row
}

// wideRows returns some rows in float64.
func wideRows(x blas32.General, from, to int) blas64.General {
	out := blas64.General{Rows: to - from, Cols: x.Cols, Stride: x.Cols}
	for i := from; i < to; i++ {
		out.Data = append(out.Data, wide(x, i)...)
	}
	return out
}
