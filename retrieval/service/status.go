package service

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"
)

//go:embed status.html
var statusText string

var statusPage = template.Must(template.New("status").Parse(statusText))

// statusView is what the page shows.
type statusView struct {
	Name, State, Release, Since string
	Running, Limit              int64
	Versions                    []versionRow
	Sizes                       []sizeRow
	Routes                      []routeRow
	Refused                     []refusedRow
}

// versionRow is a version of the gallery.
type versionRow struct {
	Version                     uint64
	Codebook, Rows, Cells, Size string
	Modes                       []string
	Since                       string
	Users                       int
	Newest                      bool
}

// sizeRow is how long a message is.
type sizeRow struct{ What, Float32, Int8 string }

// routeRow is what happened at a route.
type routeRow struct {
	Name          string
	Requests      int64
	Failed        int64
	Bytes         string
	Rate          string
	P50, P90, P99 string
}

// refusedRow counts a kind of problem.
type refusedRow struct {
	Kind  string
	Count int64
}

// serveStatus answers the status page.
func (s *Service) serveStatus(w *answer, _ *http.Request) *problem {
	var page bytes.Buffer
	if err := statusPage.Execute(&page, s.view(time.Now())); err != nil {
		s.settings.Log.Error("status page", "error", err)
		return failed()
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(page.Len()))
	_, _ = w.Write(page.Bytes()) // a client that is gone needs no answer
	return nil
}

func (s *Service) view(now time.Time) statusView {
	v := statusView{
		Name: "no gallery", State: "ready", Release: s.settings.Release, Since: ago(now.Sub(s.metrics.begin)),
		Running: s.metrics.running.Load(), Limit: int64(s.settings.MaxRequests),
	}
	if err := s.Ready(); err != nil {
		v.State = "not ready"
	}
	for i, g := range s.served() {
		if i == 0 {
			v.Name = g.Name
			v.Sizes = sizesOf(g.Bytes)
		}
		v.Versions = append(v.Versions, versionRow{
			Version: g.Version, Codebook: g.Codebook, Rows: fmt.Sprintf("%d × %d", g.Rows, g.Space.Rows),
			Cells: fmt.Sprintf("%d × %d", g.Cells, g.Space.Cells), Size: fmt.Sprintf("%d × %d", g.Size, g.Length),
			Modes: g.Modes, Since: ago(now.Sub(g.Since)), Users: g.Users, Newest: i == 0,
		})
	}
	for _, name := range s.metrics.names {
		c := s.metrics.routes[name]
		all, failed := c.requests()
		v.Routes = append(v.Routes, routeRow{
			Name: name, Requests: all, Failed: failed, Bytes: byteCount(c.bytes.Load()), Rate: fmt.Sprintf("%.2f", c.recent.perSecond(now)),
			P50: milliseconds(c.latency.quantile(0.5), all), P90: milliseconds(c.latency.quantile(0.9), all), P99: milliseconds(c.latency.quantile(0.99), all),
		})
	}
	for _, kind := range refusals {
		if n := s.metrics.refused[kind].Load(); n > 0 {
			v.Refused = append(v.Refused, refusedRow{kind, n})
		}
	}
	return v
}

// sizesOf returns the lengths of messages, those of the whole gallery beside an answer.
func sizesOf(l lengths) []sizeRow {
	both := func(what string, by map[string]int64) sizeRow {
		return sizeRow{what, byteCount(by[forms[0].String()]), byteCount(by[forms[1].String()])}
	}
	return []sizeRow{
		both("an answer of mode cells, each query", l.Answer),
		both("base, once", l.Base),
		{"all rows (take-all), once", "", byteCount(l.Rows)},
		{"codebook, once", byteCount(int64(l.Codebook)), ""},
	}
}

func milliseconds(seconds float64, of int64) string {
	if of == 0 {
		return "–"
	}
	return strconv.FormatFloat(1000*seconds, 'g', 3, 64)
}

// byteCount returns a number of bytes in the unit that suits it.
func byteCount(n int64) string {
	v := float64(n)
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if v < 1000 {
			return strconv.FormatFloat(v, 'g', 3, 64) + " " + unit
		}
		v /= 1000
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + " TB"
}

// ago returns a time in its largest unit.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
