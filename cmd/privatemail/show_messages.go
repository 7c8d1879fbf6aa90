package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// showRelease explains a release of either form.
func showRelease(ctx context.Context, path string, begin []byte) (*explanation, error) {
	readable := bytes.HasPrefix(begin, []byte("{")) && isRelease(path)
	if !readable && !bytes.HasPrefix(begin, []byte("\x89PMREL")) {
		return nil, nil
	}
	r, err := readRelease(path)
	if err != nil {
		return nil, err
	}
	x := &explanation{kind: "release", about: "made by 'privatemail privatize'; 'privatemail continue' takes it further"}
	x.addRelease(ctx, r)
	return x, nil
}

// addRelease adds what a release promises.
func (x *explanation) addRelease(ctx context.Context, r *release.Release) {
	g := promised(ctx, r)
	x.add("release", fmt.Sprintf("%x", r.ID), nil)
	x.add("rows", fmt.Sprintf("%d x %d", r.Rows, r.Columns), []int{r.Rows, r.Columns})
	x.add("guarantee", fmt.Sprintf("epsilon %s, delta %g, relation %s", closelyTo(g.total(), 6), g.delta, g.relation), map[string]any{"epsilon": g.total(), "delta": g.delta, "relation": g.relation.String()})
	x.add("protects", mechanism.ProtectionOfRelease(r).String(), nil)
	x.add("labels", r.Labels.Mode, nil)
	if r.Ledger > 0 {
		x.add("ledger", fmt.Sprintf("paid for in its line %d", r.Ledger), r.Ledger)
	} else {
		x.add("ledger", "none: nothing was counted", uint64(0))
	}
}

// frameMagic begins a message of package wire; its kind follows.
const frameMagic = "PMW1"

// showFrame explains a message between client and server. Messages are checked as a whole.
func showFrame(_ context.Context, path string, begin []byte) (*explanation, error) {
	if !bytes.HasPrefix(begin, []byte(frameMagic)) || len(begin) < len(frameMagic)+2 {
		return nil, nil
	}
	x, read := newMessage(wire.Kind(binary.LittleEndian.Uint16(begin[len(frameMagic):])))
	if x == nil {
		return nil, fmt.Errorf("%s: a message of a kind that this program does not know", path)
	}
	data, err := readWhole(path)
	if err != nil {
		return nil, err
	}
	err = read(data)
	if body, ok := keptInCache(data); err != nil && ok {
		if err = read(body); err == nil {
			x.addf("cache", inCache)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, bare(err))
	}
	return x, nil
}

// inCache is what is said of a file that 'privatemail query' keeps.
const inCache = "kept by 'privatemail query', and fetched again if it is removed"

// keptInCache returns what a file of the cache of a client keeps: it has the SHA-256 of that
// behind it.
func keptInCache(data []byte) (body []byte, ok bool) {
	end := len(data) - sha256.Size
	if end < 0 || sha256.Sum256(data[:end]) != [sha256.Size]byte(data[end:]) {
		return nil, false
	}
	return data[:end], true
}

// readWhole reads a file that is shorter than the memory for it and for what it holds.
func readWhole(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if most := mem.Budget() / 3; info.Size() > most {
		return nil, fmt.Errorf("%s: a message of %s, and there is memory for %s", path, formatSize(info.Size()), formatSize(most))
	}
	return os.ReadFile(path)
}

// showMap explains the map that a server publishes, which is JSON.
func showMap(_ context.Context, path string, begin []byte) (*explanation, error) {
	if !bytes.HasPrefix(begin, []byte(`{"dim":`)) {
		return nil, nil
	}
	data, err := readWhole(path)
	if err != nil {
		return nil, err
	}
	body, kept := keptInCache(data)
	if !kept {
		body = data
	}
	var m supervised.Map
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, fmt.Errorf("%s: a map that cannot be read: %w", path, bare(err))
	}
	x := &explanation{kind: "map", about: "published by a server; clients place their rows by it"}
	x.add("map", fmt.Sprintf("from %d columns to %d", m.Dim, m.Columns()), []int{m.Dim, m.Columns()})
	if kept {
		x.addf("cache", inCache)
	}
	return x, nil
}

// newMessage returns the explanation of a kind of message, nil for an unknown one, and what
// reads such a message and adds its facts.
func newMessage(kind wire.Kind) (*explanation, func(data []byte) error) {
	x := new(explanation)
	codebook := func(hash wire.Hash) { x.add("codebook", fmt.Sprintf("%x", hash), nil) }
	switch kind {
	case wire.KindCodebook:
		x.kind, x.about = "codebook", "the cells of a gallery"
		var m wire.Codebook
		return x, decode(&m, func() error { return x.addCodebook(&m) })
	case wire.KindBase, wire.KindCompactBase:
		x.kind, x.about = "base", "a sample of a gallery"
		var m wire.Base
		return x, decode(&m, func() error {
			codebook(m.Codebook)
			x.add("rows", fmt.Sprintf("%d x %d as %s", len(m.IDs), m.Dimension, m.Encoding), []int{len(m.IDs), m.Dimension})
			return nil
		})
	case wire.KindCellsRequest:
		x.kind, x.about = "request", "a set of cells that a client has released"
		var m wire.CellsRequest
		return x, decode(&m, func() error {
			codebook(m.Codebook)
			x.add("cells", fmt.Sprint(len(m.Cells)), len(m.Cells))
			return nil
		})
	case wire.KindCellsAnswer, wire.KindCompactAnswer:
		x.kind, x.about = "answer", "the lists of the cells of a request"
		var m wire.CellsAnswer
		return x, decode(&m, func() error {
			codebook(m.Codebook)
			x.add("lists", fmt.Sprintf("%d of %d rows of %d columns as %s", len(m.Cells), m.Length, m.Dimension, m.Encoding), []int{len(m.Cells), m.Length, m.Dimension})
			return nil
		})
	case wire.KindAllRows:
		x.kind, x.about = "whole-gallery", "all rows as int8, for mode take-all"
		var m wire.AllRows
		return x, decode(&m, func() error {
			codebook(m.Codebook)
			x.add("rows", fmt.Sprintf("%d x %d", len(m.Rows.Anchors), m.Dimension), []int{len(m.Rows.Anchors), m.Dimension})
			return nil
		})
	}
	return newSealedMessage(kind)
}

// decode returns a function that reads a message and then adds its facts.
func decode(m interface{ UnmarshalBinary([]byte) error }, add func() error) func([]byte) error {
	return func(data []byte) error {
		if err := m.UnmarshalBinary(data); err != nil {
			return err
		}
		return add()
	}
}
