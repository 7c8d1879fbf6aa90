package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// openShards returns all shards of a gallery, from files.
func openShards(t *testing.T, c *Cells, count int, encoded int64) (all []*Cells) {
	t.Helper()
	for i := range count {
		s, err := c.Split(t.Context(), i+1, count, encoded, nil)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "test.shard")
		if err := errors.Join(s.Save(t.Context(), path), s.Close()); err != nil {
			t.Fatal(err)
		}
		if s, err = OpenShard(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		all = append(all, s)
	}
	return all
}

// Lists of all shards, one behind the other, are those of the whole; every answer of a shard has
// one length, and is the same from memory and from encoded answers.
func TestShardsAreTheWhole(t *testing.T) {
	for _, settings := range []CellsSettings{{Epsilon: 4}, {Epsilon: 2, Partition: true}, {Cells: 12, Size: 3}} {
		c := newCells(t, settings)
		for _, count := range []int{1, 3, 7} {
			for _, encoded := range []int64{0, -1} {
				shards := openShards(t, c, count, encoded)
				checkShards(t, c, shards)
				if held := shards[0].Encoded() > 0; held != (encoded == 0 && c.book.Size == 1) {
					t.Errorf("%d bytes of encoded answers", shards[0].Encoded())
				}
			}
		}
	}
}

func checkShards(t *testing.T, c *Cells, shards []*Cells) {
	t.Helper()
	first := 0
	for _, s := range shards {
		part := s.Shard()
		if part.First != first || part.Rows < 1 || s.hash != c.hash || !bytes.Equal(s.Map(), c.Map()) {
			t.Errorf("shard %+v after %d rows", part, first)
		}
		first += part.Rows
	}
	if first != c.book.Rows || c.Shard() != nil {
		t.Errorf("%d rows in all shards", first)
	}
	for cell := 0; cell+c.book.Size <= len(c.lists); cell++ {
		request := &wire.CellsRequest{Codebook: c.hash}
		for i := range c.book.Size {
			request.Cells = append(request.Cells, uint32(cell+i))
		}
		for _, encoding := range []wire.Encoding{wire.Float32, wire.Int8} {
			checkAnswers(t, c, shards, request, encoding)
		}
	}
}

// checkAnswers compares the answer of the whole with those of its shards.
func checkAnswers(t *testing.T, c *Cells, shards []*Cells, request *wire.CellsRequest, encoding wire.Encoding) {
	t.Helper()
	want, err := c.Answer(request, encoding)
	if err != nil {
		t.Fatal(err)
	}
	d := c.book.Ranking
	lists := make([][]uint32, len(request.Cells))
	var rows []float32
	var codes []int8
	for i := range request.Cells {
		for _, s := range shards {
			var frame bytes.Buffer
			var got wire.CellsAnswer
			if _, err := s.WriteAnswer(&frame, request, encoding); err != nil {
				t.Fatal(err)
			}
			if int64(frame.Len()) != s.AnswerBytes(encoding) {
				t.Errorf("%d bytes, want %d for every request", frame.Len(), s.AnswerBytes(encoding))
			}
			if err := got.UnmarshalBinary(frame.Bytes()); err != nil {
				t.Fatal(err)
			}
			list := got.List(i)
			lists[i] = append(lists[i], list...)
			if at := i * got.Length * d; encoding == wire.Int8 {
				codes = append(codes, got.Compact.Codes[at:at+len(list)*d]...)
			} else {
				rows = append(rows, got.Rows[at:at+len(list)*d]...)
			}
		}
		if !slices.Equal(lists[i], want.List(i)) {
			t.Fatalf("list %d has %v, want %v", i, lists[i], want.List(i))
		}
	}
	wantRows, wantCodes := []float32(nil), []int8(nil)
	for i := range request.Cells {
		at, n := i*want.Length*d, len(want.List(i))*d
		if encoding == wire.Int8 {
			wantCodes = append(wantCodes, want.Compact.Codes[at:at+n]...)
		} else {
			wantRows = append(wantRows, want.Rows[at:at+n]...)
		}
	}
	if !slices.Equal(rows, wantRows) || !slices.Equal(codes, wantCodes) {
		t.Errorf("%s: other rows than those of the whole", encoding)
	}
}

func TestSplitRefuses(t *testing.T) {
	c := newCells(t, CellsSettings{Epsilon: 4})
	for _, which := range [][2]int{{0, 3}, {4, 3}, {1, 0}, {1, -1}, {1, MaxShards + 1}} {
		if _, err := c.Split(t.Context(), which[0], which[1], 0, nil); !errors.Is(err, ErrGallery) {
			t.Errorf("shard %d of %d: %v", which[0], which[1], err)
		}
	}
	s, err := c.Split(t.Context(), 2, 3, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Split(t.Context(), 1, 2, 0, nil); !errors.Is(err, ErrGallery) {
		t.Errorf("a shard of a shard: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Split(ctx, 1, 3, -1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	closed := make(chan struct{})
	go func() {
		c.Close()
		close(closed)
	}()
	if err := s.Close(); err != nil { // Close of the gallery waits for it
		t.Error(err)
	}
	<-closed
	if _, err := c.Split(t.Context(), 1, 3, 0, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// A file of a shard whose facts were changed, with the right checksums, is refused, and each kind
// of file by the other function.
func TestOpenShardRefuses(t *testing.T) {
	c := newCells(t, CellsSettings{Epsilon: 4, Encoded: -1})
	s, err := c.Split(t.Context(), 2, 3, -1, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := saved(t, s)
	if _, err := OpenCells(t.Context(), path); !errors.Is(err, formats.ErrUnsupported) {
		t.Errorf("a shard as a gallery: %v", err)
	}
	if _, err := OpenShard(t.Context(), saved(t, c)); !errors.Is(err, formats.ErrUnsupported) {
		t.Errorf("a gallery as a shard: %v", err)
	}
	for name, change := range map[string]func(*fileFacts){
		"no shard":   func(f *fileFacts) { f.Shard = nil },
		"index 0":    func(f *fileFacts) { f.Shard.Index = 0 },
		"index 4":    func(f *fileFacts) { f.Shard.Index = 4 },
		"index 1":    func(f *fileFacts) { f.Shard.Index = 1 },
		"count 2":    func(f *fileFacts) { f.Shard.Count = 2 },
		"many":       func(f *fileFacts) { f.Shard.Count = 1 << 30 },
		"first":      func(f *fileFacts) { f.Shard.First++ },
		"rows":       func(f *fileFacts) { f.Shard.Rows-- },
		"length 0":   func(f *fileFacts) { f.Shard.Length = 0 },
		"longer":     func(f *fileFacts) { f.Shard.Length++ },
		"shorter":    func(f *fileFacts) { f.Shard.Length-- },
		"much":       func(f *fileFacts) { f.Shard.Length = 1 << 30 },
		"all others": func(f *fileFacts) { f.Shard.First, f.Shard.Rows = 0, c.book.Rows },
	} {
		t.Run(name, func(t *testing.T) {
			names, parts := sectionsOf(t, path)
			var facts fileFacts
			if err := json.Unmarshal(parts[sectionFacts], &facts); err != nil {
				t.Fatal(err)
			}
			change(&facts)
			if parts[sectionFacts], err = json.Marshal(&facts); err != nil {
				t.Fatal(err)
			}
			changed := filepath.Join(t.TempDir(), "changed.shard")
			rewriteAs(t, changed, shardKind, names, parts)
			if opened, err := OpenShard(t.Context(), changed); !errors.Is(err, formats.ErrFormat) {
				t.Errorf("%v, %v", opened, err)
			}
		})
	}
}
