package front

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// record returns what the service of a shard answers.
func (s *shardServer) record(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.Public().ServeHTTP(w, r)
	return w
}

// Answers of a shard that are not what is due are refused, and the shard is named.
func TestHostileAnswers(t *testing.T) {
	f := newFarm(t, 3)
	f.look(t)
	s := f.shards[1]
	own := f.front.current.shards[1]
	changed := func(change func(a *wire.CellsAnswer)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var a wire.CellsAnswer
			if err := a.UnmarshalBinary(s.record(r).Body.Bytes()); err != nil {
				t.Error(err)
			}
			change(&a)
			frame, err := a.MarshalBinary()
			if err != nil {
				t.Error(err)
			}
			w.Write(frame)
		}
	}
	// move gives the rows of each list other numbers, as many as there are, from one on.
	move := func(from func(n int) int) func(a *wire.CellsAnswer) {
		return func(a *wire.CellsAnswer) {
			for i := range a.Cells {
				list := a.List(i)
				for j := range list {
					list[j] = uint32(from(len(list)) + j)
				}
			}
		}
	}
	raw := func(change func(frame []byte) []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { w.Write(change(s.record(r).Body.Bytes())) }
	}
	for name, h := range map[string]http.HandlerFunc{
		"another codebook": changed(func(a *wire.CellsAnswer) { a.Codebook[0]++ }),
		"other cells":      changed(func(a *wire.CellsAnswer) { a.Cells[2]++ }),
		"rows below":       changed(move(func(int) int { return 0 })),
		"a row below":      changed(move(func(int) int { return own.First - 1 })),
		"a row above":      changed(move(func(n int) int { return own.First + own.Rows - n + 1 })),
		"rows of nobody":   changed(move(func(n int) int { return math.MaxInt32 - n })),
		"an answer of another shard": func(w http.ResponseWriter, r *http.Request) {
			w.Write(f.shards[0].record(r).Body.Bytes())
		},
		"one row shorter": changed(func(a *wire.CellsAnswer) {
			short := &wire.CellsAnswer{Codebook: a.Codebook, Cells: a.Cells, Length: 1, Dimension: a.Dimension, Encoding: a.Encoding}
			n := len(a.Cells)
			short.IDs = slices.Repeat([]uint32{wire.Padding}, n)
			if a.Encoding == wire.Int8 {
				short.Compact = wire.Compact{Anchors: make([]uint16, n), Steps: make([]uint16, n), Codes: make([]int8, n*a.Dimension)}
			} else {
				short.Rows = make([]float32, n*a.Dimension)
			}
			*a = *short
		}),
		"the other encoding": func(w http.ResponseWriter, r *http.Request) {
			encoding := "float32"
			if r.URL.Query().Get("encoding") == encoding {
				encoding = "int8"
			}
			r.URL.RawQuery = "encoding=" + encoding
			w.Write(s.record(r).Body.Bytes())
		},
		"cut off": raw(func(b []byte) []byte { return b[:len(b)-1] }),
		"longer":  raw(func(b []byte) []byte { return append(b, 0) }),
		"changed": raw(func(b []byte) []byte { b[len(b)-20]++; return b }),
		"nothing": raw(func([]byte) []byte { return nil }),
		"a page":  raw(func([]byte) []byte { return []byte("<html>" + strings.Repeat("x", 4000)) }),
		"huge": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1099511627776")
			w.Write([]byte("PMW1"))
		},
		"endless": func(w http.ResponseWriter, r *http.Request) {
			for frame := s.record(r).Body.Bytes(); ; {
				if _, err := w.Write(frame); err != nil {
					return
				}
			}
		},
		"compressed": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(s.record(r).Body.Bytes())
		},
		"sent elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, f.shards[0].web.URL+r.URL.Path, http.StatusTemporaryRedirect)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.handle(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				h(w, r)
			})
			f.wantShard(t, 2, "")
		})
	}
	// What a shard says is not passed on: it may hold the cells.
	s.handle(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(422)
		w.Write([]byte(`{"type":"urn:privatemail:secret","title":"secret","detail":"secret"}`))
	})
	if r := send(t, "POST", f.all.URL+"/v1/cells", request(t, f.whole, 1)); r.status != 503 || bytes.Contains(r.body, []byte("secret")) {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// Lists that have room for themselves, and together are longer than the codebook says, and anchors
// that it does not have, are refused.
func TestJoinRefuses(t *testing.T) {
	f := newFarm(t, 1)
	f.look(t)
	g := f.front.current
	ask := &wire.CellsRequest{Codebook: g.hash, Cells: []uint32{3}}
	var parts []*wire.CellsAnswer
	sum := 0
	for _, s := range g.shards {
		a := &wire.CellsAnswer{Codebook: g.hash, Cells: ask.Cells, Length: s.Length, Dimension: g.book.Ranking, Encoding: wire.Int8}
		for i := range s.Length {
			a.IDs = append(a.IDs, uint32(s.First+i))
		}
		n := s.Length
		a.Compact = wire.Compact{Anchors: make([]uint16, n), Steps: make([]uint16, n), Codes: make([]int8, n*a.Dimension)}
		if err := g.check(&s, ask, wire.Int8, a); err != nil {
			t.Error(err)
		}
		a.Compact.Anchors[0] = uint16(8 * g.book.AnchorCount()) // an anchor has 8 turns
		if err := g.check(&s, ask, wire.Int8, a); err == nil {
			t.Error("an invalid anchor was taken")
		}
		a.Compact.Anchors[0] = 0
		parts, sum = append(parts, a), sum+n
	}
	if sum <= g.book.Length {
		t.Fatalf("%d rows in all lists, and one has %d: nothing is tested", sum, g.book.Length)
	}
	if out, _, err := g.join(ask, wire.Int8, parts); err == nil {
		t.Errorf("%d rows in a list of %d", len(out.List(0)), g.book.Length)
	}
}

// Descriptions that lie are refused before anything is served.
func TestHostileDescriptions(t *testing.T) {
	type object = map[string]any
	shard := func(name string, value any) func(object) {
		return func(d object) { d["shard"].(object)[name] = value }
	}
	for name, change := range map[string]func(object){
		"no codebook":      func(d object) { d["codebook"] = "" },
		"another codebook": func(d object) { d["codebook"] = strings.Repeat("ab", 32) },
		"another version":  func(d object) { d["version"] = 9 },
		"no shard":         func(d object) { delete(d, "shard") },
		"index":            shard("index", 3),
		"count":            shard("count", int64(1)<<40),
		"first":            shard("first", 7),
		"negative":         shard("rows", -1),
		"many rows":        shard("rows", int64(1)<<31),
		"long lists":       shard("length", 1<<30),
		"no lists":         shard("length", 0),
		"whole":            shard("whole", strings.Repeat("ab", 32)),
		"checksum":         shard("checksum", "00"),
		"other checksum":   shard("checksum", "0011223344556677"),
		"no own":           shard("own", "x"),
		"no base":          shard("base", object{}),
		"other map":        shard("map", strings.Repeat("ab", 32)),
		"base is huge":     func(d object) { d["bytes"].(object)["base"] = object{"float32": int64(1) << 50, "int8": 1} },
		"map is huge":      func(d object) { d["bytes"].(object)["map"] = int64(1) << 50 },
		"no JSON":          func(d object) { clear(d); d["x"] = strings.Repeat("x", 1<<17) },
	} {
		for _, number := range []int{1, 2} {
			t.Run(name+" at "+strconv.Itoa(number), func(t *testing.T) {
				f := newFarm(t, 1)
				s := f.shards[number-1]
				s.handle(func(w http.ResponseWriter, r *http.Request) {
					answer := s.record(r)
					if r.URL.Path != "/v1/gallery" {
						maps.Copy(w.Header(), answer.Header())
						w.WriteHeader(answer.Code)
						w.Write(answer.Body.Bytes())
						return
					}
					var d object
					if err := json.Unmarshal(answer.Body.Bytes(), &d); err != nil {
						t.Error(err)
					}
					change(d)
					w.Header().Set("Content-Type", "application/json")
					json.NewEncoder(w).Encode(d)
				})
				f.look(t)
				if f.front.current != nil {
					t.Fatal("published")
				}
				if err := f.service.Ready(); err == nil {
					t.Error("ready")
				}
				ready := 0
				for _, state := range f.front.Shards() {
					if state.Ready {
						ready++
					}
				}
				if ready == shardCount {
					t.Error("no shard is named")
				}
			})
		}
	}
}
