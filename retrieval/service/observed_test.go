package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A logBuffer is a log that is read while it is written.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *logBuffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Reset()
}

func jsonLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// readMetrics reads the text format and refuses what does not follow it.
func readMetrics(t *testing.T, s *Service) map[string]float64 {
	t.Helper()
	var text bytes.Buffer
	s.writeMetrics(series{&text})
	kinds, found := map[string]string{}, map[string]float64{}
	line := regexp.MustCompile(`^([a-z_]+)(\{(?:[a-z]+="(?:[^"\\]|\\.)*",?)*\})? (\S+)$`)
	for l := range strings.Lines(text.String()) {
		l = strings.TrimSuffix(l, "\n")
		if rest, ok := strings.CutPrefix(l, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if kinds[name] != "" {
				t.Errorf("%s has two types", name)
			}
			kinds[name] = kind
			continue
		}
		if strings.HasPrefix(l, "# HELP ") {
			continue
		}
		m := line.FindStringSubmatch(l)
		if m == nil {
			t.Fatalf("no metric: %q", l)
		}
		base := m[1]
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if b, ok := strings.CutSuffix(base, suffix); ok && kinds[b] == "histogram" {
				base = b
			}
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if _, twice := found[m[1]+m[2]]; err != nil || kinds[base] == "" || twice {
			t.Errorf("%q: %v, type %q, twice %v", l, err, kinds[base], twice)
		}
		found[m[1]+m[2]] = v
	}
	return found
}

// All series are there from the start, those of failures too, and requests add none.
func TestMetrics(t *testing.T) {
	s, web := start(t, Settings{Release: `1"0`})
	before := readMetrics(t, s)
	for _, r := range routes() {
		for _, code := range slices.Concat(r.statuses, r.problems, commonProblems) {
			name := fmt.Sprintf(`privatemail_requests_total{route="%s",code="%d"}`, r.name, code)
			if v, ok := before[name]; !ok || v != 0 {
				t.Errorf("%s: %v, is there %v", name, v, ok)
			}
		}
	}
	for name, want := range map[string]float64{
		"privatemail_gallery_rows": 240, "privatemail_gallery_version": 1, "privatemail_gallery_versions": 1, "privatemail_ready": 1,
		"privatemail_requests_running": 0, "privatemail_panics_total": 0, `privatemail_reloads_total{result="failed"}`: 0, "privatemail_galleries_published_total": 1,
	} {
		if v, ok := before[name]; !ok || v != want {
			t.Errorf("%s: %v, is there %v, want %v", name, v, ok, want)
		}
	}
	if before["go_goroutines"] < 1 {
		t.Error("no goroutines")
	}
	for range 3 {
		send(t, "POST", web.URL+"/v1/cells", bytes.NewReader(s.frame(t, 1)))
	}
	send(t, "POST", web.URL+"/v1/cells", strings.NewReader("x"))
	send(t, "GET", web.URL+"/nowhere", nil)
	send(t, "GET", web.URL+"/v1/map?codebook=1", nil)
	s.NoteReload("tokens", io.EOF)
	after := readMetrics(t, s)
	v, _ := s.take(nil)
	defer s.give(v)
	bytesOut := float64(3 * v.gallery.Cells.Codebook().AnswerBytes(encodings[0]))
	for name, want := range map[string]float64{
		`privatemail_requests_total{route="cells",code="200"}`: 3, `privatemail_requests_total{route="cells",code="400"}`: 1,
		`privatemail_requests_total{route="other",code="404"}`: 1, `privatemail_requests_total{route="map",code="400"}`: 1,
		`privatemail_refused_total{type="bad-frame"}`: 1, `privatemail_refused_total{type="bad-parameter"}`: 1, `privatemail_refused_total{type="not-found"}`: 1,
		`privatemail_request_seconds_count{route="cells"}`: 4, `privatemail_request_seconds_bucket{route="cells",le="+Inf"}`: 4,
		`privatemail_reloads_total{result="failed"}`: 1,
	} {
		if after[name] != want {
			t.Errorf("%s: %v, want %v", name, after[name], want)
		}
	}
	if got := after[`privatemail_response_bytes_total{route="cells"}`]; got < bytesOut || got > bytesOut+1000 {
		t.Errorf("%v bytes, want %v and a problem", got, bytesOut)
	}
	if !maps.EqualFunc(before, after, func(float64, float64) bool { return true }) {
		t.Error("requests have added series")
	}
}

// The log has the same records whatever was asked: two queries for different cells, and
// two malformed bodies, leave records that differ in time alone.
func TestLogTellsNothingOfQueries(t *testing.T) {
	var log logBuffer
	s, web := start(t, Settings{Log: jsonLog(&log)})
	records := func(body []byte, query string) string {
		log.Reset()
		send(t, "POST", web.URL+"/v1/cells"+query, bytes.NewReader(body))
		for !strings.Contains(log.String(), "\n") { // it is written after the answer
			time.Sleep(time.Millisecond)
		}
		var all []string
		for line := range strings.Lines(log.String()) {
			var fields map[string]any
			if err := json.Unmarshal([]byte(line), &fields); err != nil {
				t.Fatal(err)
			}
			keys := slices.Sorted(maps.Keys(fields))
			if want := []string{"bytes", "client", "level", "method", "milliseconds", "msg", "protocol", "route", "status", "time"}; !slices.Equal(keys, want) {
				t.Errorf("fields %q", keys)
			}
			delete(fields, "time")
			delete(fields, "milliseconds")
			all = append(all, fmt.Sprint(fields))
		}
		return strings.Join(all, "\n")
	}
	first := records(s.frame(t, 0), "")
	for cell := range uint32(5) {
		if again := records(s.frame(t, cell+1), "?encoding=float32"); again != first {
			t.Errorf("cell %d: %s, and for cell 0 %s", cell+1, again, first)
		}
	}
	if one, other := records([]byte("one"), ""), records([]byte("six"), ""); one != other {
		t.Errorf("%s\n%s", one, other)
	}
}

func TestQuantiles(t *testing.T) {
	var h histogram
	if h.quantile(0.5) != 0 {
		t.Error("a quantile of nothing")
	}
	for i := range 1000 {
		h.add(time.Duration(i+1) * time.Millisecond)
	}
	for share, want := range map[float64]float64{0.5: 0.5, 0.9: 0.9, 0.99: 0.99, 1: 1} {
		if got := h.quantile(share); got < want/1.3 || got > want*1.3 {
			t.Errorf("%g: %g, want %g", share, got, want)
		}
	}
	var slow histogram
	slow.add(time.Hour)
	if got := slow.quantile(0.5); got != bounds[len(bounds)-1] {
		t.Errorf("above all buckets: %g", got)
	}
	if len(bounds) != 31 || !slices.IsSorted(bounds) || bounds[0] != 1e-4 || bounds[30] != 100 {
		t.Errorf("bounds %v", bounds)
	}
}

func TestRecentRate(t *testing.T) {
	var r recent
	now := time.Unix(1_000_000, 0)
	for range 120 {
		r.add(now)
	}
	for later, want := range map[time.Duration]float64{0: 0, time.Second: 2, 60 * time.Second: 2, 61 * time.Second: 0} {
		if got := r.perSecond(now.Add(later)); got != want {
			t.Errorf("after %v: %g, want %g", later, got, want)
		}
	}
	r.add(now.Add(61 * time.Second)) // takes the place of the first second
	if got := r.perSecond(now.Add(62 * time.Second)); got != 1./60 {
		t.Errorf("%g", got)
	}
}

// The page is whole, without scripts, and shows names as text.
func TestStatusPage(t *testing.T) {
	s, err := New(Settings{Release: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Public())
	defer web.Close()
	for _, name := range []string{"", "<script>alert(1)</script>"} {
		if name != "" {
			if err := s.Publish(Offer{Name: name, Cells: newCells(t, 7)}); err != nil {
				t.Fatal(err)
			}
		}
		send(t, "POST", web.URL+"/v1/cells", strings.NewReader("x"))
		r := send(t, "GET", web.URL+"/", nil)
		text := string(r.body)
		if r.status != 200 || r.header.Get("Content-Type") != "text/html; charset=utf-8" || strings.Contains(text, "<script") || !strings.HasSuffix(text, "</html>\n") {
			t.Errorf("%d %v\n%s", r.status, r.header, text)
		}
		want := []string{"not ready", "no gallery"}
		if name != "" {
			want = []string{"&lt;script&gt;", s.versions[0].says.Codebook, ">ready<", ">cells, all<"}
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q is missing in\n%s", w, text)
			}
		}
	}
	// What others ask is for who runs the service: the page is the same before and after a request.
	before := send(t, "GET", web.URL+"/", nil).body
	for _, path := range []string{"/v1/gallery", "/nowhere", "/"} {
		send(t, "GET", web.URL+path, nil)
	}
	v, _ := s.take(nil) // a request runs
	after := send(t, "GET", web.URL+"/", nil).body
	s.give(v)
	age := regexp.MustCompile(`\d+ (s|min)\b`)
	if got, want := age.ReplaceAllString(string(after), ""), age.ReplaceAllString(string(before), ""); got != want {
		t.Errorf("the page tells of requests:\n%s\nbefore:\n%s", got, want)
	}
	admin := httptest.NewServer(s.Admin())
	defer admin.Close()
	text := string(send(t, "GET", admin.URL+"/", nil).body)
	for _, w := range []string{"bad-frame", "p99", "not-found"} {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in\n%s", w, text)
		}
	}
	s.Close()
}

func TestUnits(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 32_500_000: "32.5 MB", 68_000_000_000: "68 GB", 2e12: "2 TB"} {
		if got := byteCount(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for d, want := range map[time.Duration]string{time.Second: "1 s", 90 * time.Second: "1 min", 47 * time.Hour: "47 h", 49 * time.Hour: "2 days"} {
		if got := ago(d); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
}
