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

// statusView is what the page shows. What it says of requests is for who runs the service: it would
// tell everybody when others ask, and how often.
type statusView struct {
	Operator                    bool
	Name, State, Release, Since string
	Running, Limit              int64
	Versions                    []versionRow
	Sizes                       []sizeRow
	Routes                      []routeRow
	Refused                     []refusedRow
	Shards                      []shardRow
}

// shardRow is what a front end knows of a shard. The page is for everyone: it has no addresses.
type shardRow struct {
	Number     int
	State, For string
}

// versionRow is a version of the gallery.
type versionRow struct {
	Version                     string
	Codebook, Rows, Cells, Size string // "" without cells
	Epoch, Sealed               string // of mode sealed; "" without
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

// serveStatus answers the status page for everybody.
func (s *Service) serveStatus(w *answer, _ *http.Request) *problem { return s.writeStatus(w, false) }

// writeStatus answers the status page, for the operator with what is known of requests.
func (s *Service) writeStatus(w *answer, operator bool) *problem {
	var page bytes.Buffer
	view := s.view(time.Now())
	if operator {
		s.addRequests(&view, time.Now())
	}
	if err := statusPage.Execute(&page, view); err != nil {
		s.settings.Log.Error("status page", "error", err)
		return failed()
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", h.Get("Content-Security-Policy")+"; style-src 'unsafe-inline'")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(page.Len()))
	_, _ = w.Write(page.Bytes()) // a client that is gone needs no answer
	return nil
}

func (s *Service) view(now time.Time) statusView {
	v := statusView{
		Name: "no gallery", State: "ready", Release: s.settings.Release, Since: ago(now.Sub(s.metrics.begin)),
	}
	if err := s.Ready(); err != nil {
		v.State = "not ready"
	}
	for i, g := range s.served() {
		if i == 0 {
			v.Name = g.Name
			v.Sizes = sizesOf(&g.description)
		}
		v.Versions = append(v.Versions, rowOf(&g, now, i == 0))
	}
	for i, state := range s.shards() {
		v.Shards = append(v.Shards, shardRow{i + 1, state.word(), ago(now.Sub(state.Since))})
	}
	return v
}

// addRequests adds what is known of requests.
func (s *Service) addRequests(v *statusView, now time.Time) {
	v.Operator, v.Running, v.Limit = true, s.metrics.running.Load(), int64(s.settings.MaxRequests)
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
}

// rowOf returns what the page says of a version.
func rowOf(g *servedVersion, now time.Time, newest bool) versionRow {
	row := versionRow{Rows: strconv.Itoa(g.Rows), Modes: g.Modes, Since: ago(now.Sub(g.Since)), Users: g.Users, Newest: newest}
	if g.Space != nil {
		row.Version, row.Codebook, row.Rows = strconv.FormatUint(g.Version, 10), g.Codebook, fmt.Sprintf("%d × %d", g.Rows, g.Space.Rows)
		row.Cells, row.Size = fmt.Sprintf("%d × %d", g.Cells, g.Space.Cells), fmt.Sprintf("%d × %d", g.Size, g.Length)
	}
	if s := g.Sealed; s != nil {
		row.Epoch = s.Epoch
		row.Sealed = fmt.Sprintf("version %d, %d cells × %d slots × %d, %d probes", g.SealedVersion, s.Cells, s.Length, s.Dimension, s.Probes)
	}
	return row
}

// sizesOf returns the lengths of messages, those of the whole gallery and of an answer.
func sizesOf(d *description) (rows []sizeRow) {
	both := func(what string, by map[string]int64) sizeRow {
		return sizeRow{what, byteCount(by[encodings[0].String()]), byteCount(by[encodings[1].String()])}
	}
	other := func(what string, bytes int64) sizeRow { return sizeRow{what, byteCount(bytes), ""} }
	if l := &d.Bytes; d.Space != nil {
		rows = append(rows,
			both("an answer of mode cells, each query", l.Answer),
			both("base, once", l.Base),
			sizeRow{"all rows, once", "", byteCount(l.Rows)},
			other("codebook, once", int64(l.Codebook)))
	}
	if s := d.Sealed; s != nil {
		rows = append(rows,
			other("a request of mode sealed, each query, up", s.Bytes.Request),
			other("its answer, down", s.Bytes.Answer),
			other("manifest of mode sealed, once", int64(s.Bytes.Manifest)),
			other("its hint, once", s.Bytes.Hint))
		if r := s.Records; r != nil {
			rows = append(rows,
				other("fetching a record, up", r.Bytes.Request),
				other("fetching a record, down", r.Bytes.Answer),
				other("hint of the records, once", r.Bytes.Hint))
		}
	}
	return rows
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
