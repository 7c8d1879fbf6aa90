package service

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// metrics are the counts of a service. Every series exists from the start, at zero: what
// appears with the first failure only cannot be watched.
type metrics struct {
	begin                time.Time
	running              atomic.Int64
	panics               atomic.Int64
	published            atomic.Int64
	reloads, failedLoads atomic.Int64
	refused              map[string]*atomic.Int64 // by kind of problem
	names                []string                 // of routes, in order
	routes               map[string]*routeCounts
	// Passes of mode sealed over the gallery and over the records.
	galleryPasses, recordPasses passCounts
}

// refusals are the kinds of problems by which requests are turned away early.
var refusals = []string{"bad-frame", "bad-parameter", "busy", "internal", "method", "not-found", "no-changes", "not-offered", "not-ready", "range", "rate", "shard", "slow", "stale-codebook", "stale-epoch", "too-large", "unanswerable", "unauthorized"}

// routeCounts are those of one route.
type routeCounts struct {
	codes   map[int]*atomic.Int64
	bytes   atomic.Int64
	latency histogram
	recent  recent
}

func newMetrics() *metrics {
	m := &metrics{begin: time.Now(), refused: map[string]*atomic.Int64{}, routes: map[string]*routeCounts{}}
	for _, kind := range refusals {
		m.refused[kind] = new(atomic.Int64)
	}
	add := func(name string, statuses ...[]int) {
		c := &routeCounts{codes: map[int]*atomic.Int64{0: new(atomic.Int64)}}
		for _, code := range slices.Concat(statuses...) {
			c.codes[code] = new(atomic.Int64)
		}
		m.names = append(m.names, name)
		m.routes[name] = c
	}
	for _, r := range routes() {
		add(r.name, r.statuses, r.problems, commonProblems)
	}
	add(otherRoute, []int{http.StatusNotFound}, commonProblems)
	return m
}

func (m *metrics) route(name string) *routeCounts { return m.routes[name] }

func (m *metrics) refuse(kind string) {
	if c := m.refused[kind]; c != nil {
		c.Add(1)
	}
}

// done counts a request. Status 0 is one that ended before its answer began.
func (c *routeCounts) done(status int, bytes int64, took time.Duration) {
	code := c.codes[status]
	if code == nil {
		code = c.codes[0]
	}
	code.Add(1)
	c.bytes.Add(bytes)
	c.latency.add(took)
	c.recent.add(time.Now())
}

// requests returns how many requests there were, and how many of them failed.
func (c *routeCounts) requests() (all, failed int64) {
	for code, n := range c.codes {
		all += n.Load()
		if code == 0 || code >= 400 {
			failed += n.Load()
		}
	}
	return all, failed
}

// recent counts the requests of the last minute, by second.
type recent struct {
	mu      sync.Mutex
	seconds [61]int64 // which second a place counts
	counts  [61]int64
}

func (r *recent) add(now time.Time) {
	second := now.Unix()
	i := second % int64(len(r.seconds))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seconds[i] != second {
		r.seconds[i], r.counts[i] = second, 0
	}
	r.counts[i]++
}

// perSecond returns the mean rate of the last 60 whole seconds.
func (r *recent) perSecond(now time.Time) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := int64(0)
	for i, second := range r.seconds {
		if age := now.Unix() - second; age >= 1 && age <= 60 {
			sum += r.counts[i]
		}
	}
	return float64(sum) / 60
}

// A series writes metrics in the text format of Prometheus.
type series struct{ w io.Writer }

func (s series) head(name, kind, help string) {
	fmt.Fprintf(s.w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// one writes a metric with a single value.
func (s series) one(name, kind, help string, value float64) {
	s.head(name, kind, help)
	s.value(name, "", value)
}

func (s series) value(name, labels string, value float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(s.w, "%s%s %s\n", name, labels, strconv.FormatFloat(value, 'g', -1, 64))
}

// label returns a label with its value, quoted as the format wants it.
func label(name, value string) string {
	return name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

// write writes all metrics of the routes.
func (m *metrics) write(s series) {
	s.head("privatemail_requests_total", "counter", "Requests of the public listener by route and status; 0 for those cut off before an answer.")
	for _, name := range m.names {
		c := m.routes[name]
		codes := make([]int, 0, len(c.codes))
		for code := range c.codes {
			codes = append(codes, code)
		}
		slices.Sort(codes)
		for _, code := range codes {
			s.value("privatemail_requests_total", label("route", name)+","+label("code", strconv.Itoa(code)), float64(c.codes[code].Load()))
		}
	}
	s.head("privatemail_response_bytes_total", "counter", "Bytes of the bodies of answers by route.")
	for _, name := range m.names {
		s.value("privatemail_response_bytes_total", label("route", name), float64(m.routes[name].bytes.Load()))
	}
	s.head("privatemail_request_seconds", "histogram", "Time from the head of a request to the end of its answer.")
	for _, name := range m.names {
		m.routes[name].latency.write(s, "privatemail_request_seconds", label("route", name))
	}
	s.head("privatemail_refused_total", "counter", "Requests that were answered with a problem, by its type.")
	for _, kind := range refusals {
		s.value("privatemail_refused_total", label("type", kind), float64(m.refused[kind].Load()))
	}
	m.writePasses(s)
	s.one("privatemail_requests_running", "gauge", "Requests of the public listener that run.", float64(m.running.Load()))
	s.one("privatemail_panics_total", "counter", "Handlers that panicked.", float64(m.panics.Load()))
	s.one("privatemail_galleries_published_total", "counter", "Galleries that were published.", float64(m.published.Load()))
	s.head("privatemail_reloads_total", "counter", "Reloads of gallery, tokens and certificates by how they ended.")
	s.value("privatemail_reloads_total", label("result", "done"), float64(m.reloads.Load()))
	s.value("privatemail_reloads_total", label("result", "failed"), float64(m.failedLoads.Load()))
	s.one("process_start_time_seconds", "gauge", "When the service began, in seconds since 1970.", float64(m.begin.UnixNano())/1e9)
}
