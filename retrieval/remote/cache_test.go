package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// logged counts what a service was asked for.
type logged struct {
	http.Handler
	mutex sync.Mutex
	seen  []string
}

func (l *logged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mutex.Lock()
	l.seen = append(l.seen, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Range")))
	l.mutex.Unlock()
	l.Handler.ServeHTTP(w, r)
}

// take returns what was seen since the last call.
func (l *logged) take() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	defer func() { l.seen = nil }()
	return l.seen
}

func fetchThings(t *testing.T, s *reached, g *things) {
	t.Helper()
	if book, err := s.Codebook(t.Context()); err != nil || book.Version != g.book.Version {
		t.Fatal(err)
	}
	base, err := s.Base(t.Context(), g.hash, wire.Float32)
	if err != nil || !slices.Equal(base.IDs, []uint32{3, 8}) {
		t.Fatal(err)
	}
	gallery, err := s.Gallery(t.Context(), g.hash)
	if err != nil {
		t.Fatal(err)
	}
	if frame, err := gallery.MarshalBinary(); err != nil || !bytes.Equal(frame, g.rows) {
		t.Fatal("other rows", err)
	}
	if m, err := s.Map(t.Context(), g.hash); err != nil || m == nil || m.Dim() != 2 {
		t.Fatal(m, err)
	}
}

// Each file of the cache is fetched once. One with a flipped byte, cut off, too long or
// foreign is found and fetched again, and the next run needs nothing.
func TestDamagedCache(t *testing.T) {
	g := newThings(t, 1)
	l := &logged{Handler: g}
	folder := t.TempDir()
	s := reach(t, l, Settings{Cache: folder, Codebook: g.hash})
	fetchThings(t, s, g)
	l.take()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 4 {
		t.Fatalf("%q, %v", files, err)
	}
	address := s.address.String()
	again := func(damage string, path string) {
		t.Helper()
		s := reachAt(t, address, Settings{Cache: folder, Codebook: g.hash})
		fetchThings(t, s, g)
		if seen := l.take(); len(seen) != 1 || len(s.warnings) != 1 || !strings.Contains(s.warnings[0].Error(), "fetched again") {
			t.Errorf("%s in %s: asked for %q, warned of %v", damage, filepath.Ext(path), seen, s.warnings)
		}
		s = reachAt(t, address, Settings{Cache: folder, Codebook: g.hash})
		fetchThings(t, s, g)
		if seen := l.take(); len(seen) != 0 || len(s.warnings) != 0 {
			t.Errorf("after %s in %s: asked for %q, warned of %v", damage, filepath.Ext(path), seen, s.warnings)
		}
	}
	for _, path := range files {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{0, 5, len(whole) / 2, len(whole) - 33, len(whole) - 1} {
			b := slices.Clone(whole)
			b[at] ^= 0x10
			write(t, path, b)
			again(fmt.Sprint("a flip at ", at), path)
		}
		for name, b := range map[string][]byte{"nothing": nil, "a cut": whole[:len(whole)-7], "more": append(slices.Clone(whole), 0), "another file": []byte(strings.Repeat("foreign", 99))} {
			write(t, path, b)
			again(name, path)
		}
	}
	// A file with the right sum and the contents of another codebook.
	other := newThings(t, 2)
	c := cache{folder: folder, warn: func(err error) { t.Error(err) }}
	for what, body := range map[string][]byte{"codebook": other.codebook, "base-float32": other.base, "rows": other.rows} {
		if err := os.Remove(c.path(g.hash, what)); err != nil {
			t.Fatal(err)
		}
		c.write(g.hash, what, body)
		again("another codebook", c.path(g.hash, what))
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Where the cache cannot be written to, everything works without it.
func TestCacheThatCannotBeWritten(t *testing.T) {
	g := newThings(t, 1)
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, nil)
	s := reach(t, g, Settings{Cache: filepath.Join(file, "cache")})
	fetchThings(t, s, g)
	if len(s.warnings) == 0 {
		t.Error("nothing was said")
	}
	for _, w := range s.warnings {
		if strings.Contains(w.Error(), fmt.Sprintf("%x", g.hash)) || strings.Contains(w.Error(), file) {
			t.Errorf("%v", w)
		}
	}
}

// A part of a download that cannot be written, as on a full disk, is given up, and the
// download goes on.
func TestPartOnFullDisk(t *testing.T) {
	for _, step := range []string{"begin", "add"} {
		f, err := os.Create(filepath.Join(t.TempDir(), "part"))
		if err != nil {
			t.Fatal(err)
		}
		var warnings []error
		got := &received{part: &part{file: f, warn: func(err error) { warnings = append(warnings, err) }}}
		if step == "begin" {
			f.Close() // every write fails from now on
		}
		got.begin(strings.Repeat("ab", 32))
		f.Close()
		for range 3 {
			got.part.add([]byte("more"))
		}
		if len(warnings) != 1 || got.part.file != nil {
			t.Errorf("%s: %v", step, warnings)
		}
		got.part.close()
		got.part.remove()
	}
}

// cutting serves rows, and cuts each answer off after that many bytes.
type cutting struct {
	*things
	after int
}

func (c *cutting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/rows" && c.after > 0 {
		w = &cutWriter{w, c.after}
	}
	c.things.ServeHTTP(w, r)
}

type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b[:min(len(b), c.left)])
	if c.left -= n; c.left == 0 || err != nil {
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// A download goes on where it was cut off, as long as each try brings something.
func TestResumeWithinARun(t *testing.T) {
	g := newThings(t, 1)
	const cut = 20_000
	for _, folder := range []string{"", t.TempDir()} {
		l := &logged{Handler: &cutting{g, cut}}
		s := reach(t, l, Settings{Cache: folder, Tries: 2})
		fetchThings(t, s, g)
		ranges := 0
		for _, seen := range l.take() {
			if strings.HasPrefix(seen, "/v1/rows bytes=") {
				ranges++
			}
		}
		if want := (len(g.rows) - 1) / cut; ranges != want {
			t.Errorf("%d ranges, want %d", ranges, want)
		}
		if folder != "" {
			wantNoPart(t, folder)
		}
	}
}

func wantNoPart(t *testing.T, folder string) {
	t.Helper()
	if parts, err := filepath.Glob(filepath.Join(folder, "*.part")); err != nil || parts != nil {
		t.Errorf("%q are left, %v", parts, err)
	}
}

// A server that brings a little with each try is not asked for ever.
func TestResumeEnds(t *testing.T) {
	g := newThings(t, 1)
	l := &logged{Handler: &cutting{g, 100}}
	s := reach(t, l, Settings{})
	s.books.add(g.hash, g.book)
	if _, err := s.Gallery(t.Context(), g.hash); !errors.Is(err, ErrUnreachable) || len(l.take()) != defaultTries {
		t.Error(err)
	}
}

// A download goes on in the next run; what does not fit any more, or was damaged, begins
// again.
func TestResumeInTheNextRun(t *testing.T) {
	g := newThings(t, 1)
	for name, c := range map[string]struct {
		bend  func(part []byte) []byte
		first string // what the next run asks for
		all   int    // requests for rows in it
	}{
		"as it was":     {func(b []byte) []byte { return b }, "/v1/rows bytes=1000-", 1},
		"flipped":       {func(b []byte) []byte { b[500] ^= 1; return b }, "/v1/rows bytes=1000-", 2},
		"cut":           {func(b []byte) []byte { return b[:100] }, "/v1/rows bytes=33-", 1},
		"no tag":        {func(b []byte) []byte { return b[3:] }, "/v1/rows", 1},
		"another tag":   {func(b []byte) []byte { copy(b[1:], strings.Repeat("cd", 32)); return b }, "/v1/rows bytes=1000-", 1},
		"empty":         {func([]byte) []byte { return nil }, "/v1/rows", 1},
		"too long":      {func(b []byte) []byte { return append(b, make([]byte, len(g.rows))...) }, "/v1/rows", 1},
		"complete":      {func(b []byte) []byte { return append(b, g.rows[1000:]...) }, "", 0},
		"complete, bad": {func(b []byte) []byte { return append(b, make([]byte, len(g.rows)-1000)...) }, "/v1/rows", 1},
		"foreign":       {func([]byte) []byte { return bytes.Repeat([]byte("foreign\n"), 99) }, "/v1/rows", 1},
	} {
		folder := t.TempDir()
		s := reach(t, &cutting{g, 1000}, Settings{Cache: folder, Tries: 1})
		s.books.add(g.hash, g.book)
		if _, err := s.Gallery(t.Context(), g.hash); !errors.Is(err, ErrUnreachable) {
			t.Fatal(err)
		}
		path := s.cache.path(g.hash, rowsName) + ".part"
		b, err := os.ReadFile(path)
		if err != nil || len(b) != 67+1000 {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
		write(t, path, c.bend(b))
		l := &logged{Handler: g}
		s = reach(t, l, Settings{Cache: folder})
		fetchThings(t, s, g)
		seen := slices.DeleteFunc(l.take(), func(s string) bool { return !strings.HasPrefix(s, "/v1/rows") })
		if len(seen) != c.all || c.all > 0 && seen[0] != c.first {
			t.Errorf("%s: asked for %q", name, seen)
		}
		wantNoPart(t, folder)
		if len(s.warnings) > 0 {
			t.Errorf("%s: %v", name, s.warnings)
		}
	}
}

// Two that take the same gallery at the same time do not disturb each other.
func TestPartOfSomebodyElse(t *testing.T) {
	g := newThings(t, 1)
	folder := t.TempDir()
	s := reach(t, g, Settings{Cache: folder})
	held, got := s.cache.openPart(g.hash, rowsName, 1<<20, 1<<20)
	if held == nil || len(got.data) != 0 {
		t.Fatal("no part")
	}
	fetchThings(t, s, g)
	if len(s.warnings) > 0 {
		t.Error(s.warnings)
	}
	held.close()
	wantNoPart(t, folder) // it is empty
}

// Answers to a range that are wrong begin the download again.
func TestWrongRanges(t *testing.T) {
	g := newThings(t, 1)
	for _, contentRange := range []string{"", "bytes 0-5/6", "bytes 999-%d/%d", "bytes 1000-1001/%d", "bytes 1000-99999999999999999999/1", "items", "416"} {
		var tries atomic.Int64
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/rows" {
				g.ServeHTTP(w, r)
				return
			}
			try := tries.Add(1)
			switch {
			case try == 1:
				(&cutting{g, 1000}).ServeHTTP(w, r)
			case r.Header.Get("Range") == "":
				g.ServeHTTP(w, r)
			case contentRange == "416":
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			default:
				n := strings.Count(contentRange, "%d")
				w.Header().Set("Content-Range", fmt.Sprintf(contentRange, []any{len(g.rows) - 1, len(g.rows)}[2-n:]...))
				w.WriteHeader(http.StatusPartialContent)
				io.WriteString(w, "PMW1")
			}
		})
		s := reach(t, h, Settings{})
		fetchThings(t, s, g)
		if n := tries.Load(); n != 3 {
			t.Errorf("%q: %d tries", contentRange, n)
		}
	}
}
