package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// sampleScatter returns a scatter of two panels; some rows have no label.
func sampleScatter(n, classes int) *Scatter {
	rng := rand.New(rand.NewPCG(1, 2))
	s := &Scatter{Title: "sample", Caption: "Some rows.", Labels: make([]int32, n), Panels: make([]Panel, 2)}
	for i := range s.Labels {
		if s.Labels[i] = int32(3 * (i % classes)); i%97 == 5 {
			s.Labels[i] = -1
		}
	}
	for p := range s.Panels {
		s.Panels[p] = Panel{Title: fmt.Sprintf("panel %d", p), Axes: "axes", Points: make([]Point, n)}
		for i := range n {
			s.Panels[p].Points[i] = Point{rng.NormFloat64() + float64(i%classes), rng.NormFloat64()}
		}
	}
	return s
}

func write(t *testing.T, s *Scatter, format Format) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]Format{"x.svg": SVG, "a.b/x.PNG": PNG, "x.html": HTML, "x.htm": HTML, "x.pdf": 0, "svg": 0, "": 0} {
		got, err := FormatOf(path)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d, %v", path, got, err)
		}
	}
}

// Every picture is well-formed and has each row in each panel once, in its class.
func TestSVGHasEveryRow(t *testing.T) {
	for _, classes := range []int{1, 3, 12, 13, 100, 250} {
		s := sampleScatter(600, classes)
		text := write(t, s, SVG)
		marks := 0
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%d classes: %v", classes, err)
			}
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "path" {
				marks += strings.Count(attribute(e, "d"), "M")
			}
		}
		legend := classes + 1
		if classes > mostListed {
			legend = 1
		}
		if want := 2*600 + legend; marks != want {
			t.Errorf("%d classes: %d marks, want %d", classes, marks, want)
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

var (
	pathTag  = regexp.MustCompile(`<path [^>]*data-p="[^>]*>`)
	partsTag = regexp.MustCompile(`data-c="(-?\d+)" data-p="(\d)"(?: data-r="([^"]*)")? d="([^"]*)"`)
	place    = regexp.MustCompile(`M(-?[\d.]+) (-?[\d.]+)`)
)

// The page has the row and class of each point, and loads nothing.
func TestHTMLKnowsItsRows(t *testing.T) {
	s := sampleScatter(300, 5)
	s.Rows = make([]int, 300)
	for i := range s.Rows {
		s.Rows[i] = 7*i + 1
	}
	text := write(t, s, HTML)
	var rows []string
	points := map[string]int{}
	for _, tag := range pathTag.FindAllString(text, -1) {
		m := partsTag.FindStringSubmatch(tag)
		if m == nil {
			t.Fatalf("not understood: %s", tag)
		}
		points[m[2]] += len(place.FindAllString(m[4], -1))
		if m[2] != "0" {
			continue
		}
		for row := range strings.FieldsSeq(m[3]) {
			rows = append(rows, row)
			var number int
			fmt.Sscan(row, &number)
			want := s.Labels[(number-1)/7]
			if want >= 0 {
				want /= 3 // the place of the class among all
			}
			if fmt.Sprint(want) != m[1] {
				t.Errorf("row %s is in class %s, want %d", row, m[1], want)
			}
		}
	}
	slices.Sort(rows)
	if len(slices.Compact(rows)) != 300 || points["0"] != 300 || points["1"] != 300 {
		t.Errorf("%d rows, points %v", len(rows), points)
	}
	for _, outside := range []string{"http://", "https://", "src=", "href=", "url(", "import "} {
		if strings.Contains(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), outside) {
			t.Errorf("the page has %q", outside)
		}
	}
	if !strings.Contains(text, "prefers-color-scheme: dark") {
		t.Error("no dark colours")
	}
}

// Names come from files: they cannot inject markup.
func TestNamesAreEscaped(t *testing.T) {
	s := sampleScatter(40, 2)
	evil := `</script><script>alert(1)</script>"'&` + "\x00\x1b\xff"
	s.Title, s.Caption, s.Names = evil, evil, []string{evil, "", "", strings.Repeat("long ", 50000)}
	for _, format := range []Format{SVG, HTML} {
		text := write(t, s, format)
		if strings.Contains(text, "alert(1)</script>") || strings.Contains(text, "<script>alert") || bytes.ContainsAny([]byte(text), "\x00\x1b") || !utf8.ValidString(text) {
			t.Errorf("format %d: a name became part of the page", format)
		}
	}
	if text := write(t, s, SVG); len(text) > 100000 {
		t.Errorf("a long name makes a picture of %d bytes", len(text))
	}
	write(t, s, PNG)
}

// Colours of a PNG are where the points are.
func TestPNGShowsThePoints(t *testing.T) {
	s := &Scatter{Labels: []int32{0, 1, -1}, Panels: []Panel{{Points: []Point{{0, 0}, {10, 10}, {10, 0}}}}}
	m, err := png.Decode(strings.NewReader(write(t, s, PNG)))
	if err != nil {
		t.Fatal(err)
	}
	f := newFigure(s)
	v := viewOf(s.Panels[0].Points, Point{edge, panelTop})
	for i, at := range s.Panels[0].Points {
		in := v.at(at)
		got := m.At(int(in.X*pngScale), int(in.Y*pngScale))
		want := f.colour(light(), f.place[i])
		if r, g, b, _ := got.RGBA(); distance(r>>8, want.R)+distance(g>>8, want.G)+distance(b>>8, want.B) > 3*60 {
			t.Errorf("point %d has the colour %v, want about %v", i, got, want)
		}
		r, g, b, _ := got.RGBA()
		if r>>8 > 240 && g>>8 > 240 && b>>8 > 240 {
			t.Errorf("there is no point %d", i)
		}
	}
	if b := m.Bounds(); b != image.Rect(0, 0, int(math.Ceil(f.width*2)), int(math.Ceil(f.height*2))) {
		t.Errorf("bounds %v", b)
	}
}

func distance(a uint32, b uint8) int { return int(math.Abs(float64(a) - float64(b))) }

func TestTheSameScatterGivesTheSameBytes(t *testing.T) {
	for _, format := range []Format{SVG, PNG, HTML} {
		first := write(t, sampleScatter(200, 30), format)
		if again := write(t, sampleScatter(200, 30), format); again != first {
			t.Errorf("format %d differs from run to run", format)
		}
	}
}

// If no row has a label, the list says so; if there are no labels at all, there is no list.
func TestWithoutLabels(t *testing.T) {
	s := sampleScatter(50, 1)
	for i := range s.Labels {
		s.Labels[i] = -1
	}
	if text := write(t, s, SVG); !strings.Contains(text, ">no label (50)<") || !strings.Contains(text, `class="d n"`) {
		t.Error("rows without labels are not listed")
	}
	s.Labels = nil
	if text := write(t, s, SVG); strings.Contains(text, "no label (") || !strings.Contains(text, "No labels: colours follow") {
		t.Error("a list of classes without any labels")
	}
}

// Rows far from all others do not shrink the others, and are not lost.
func TestRowsBeyondTheFrame(t *testing.T) {
	s := sampleScatter(400, 2)
	s.Panels[1].Points[3] = Point{1e6, -1e6}
	text := write(t, s, SVG)
	if !strings.Contains(text, "beyond the frame and at its edge: 1<") {
		t.Error("the picture does not say that a row is beyond the frame")
	}
	v := viewOf(s.Panels[1].Points, Point{})
	inside := v.at(s.Panels[1].Points[0])
	other := v.at(s.Panels[1].Points[1])
	if math.Hypot(inside.X-other.X, inside.Y-other.Y) < 1 {
		t.Error("the other rows have become one point")
	}
	if got := v.clamp(v.at(s.Panels[1].Points[3])); got.X < 0 || got.X > panelSize || got.Y < 0 || got.Y > panelSize {
		t.Errorf("the row is at %v", got)
	}
}

// Difficult numbers are drawn without NaN.
func TestHardPoints(t *testing.T) {
	for name, p := range map[string][]Point{
		"one":    {{3, 4}},
		"equal":  {{3, 4}, {3, 4}},
		"zero":   {{0, 0}, {0, 0}},
		"tiny":   {{1e-300, 0}, {2e-300, 0}},
		"large":  {{1e38, -1e38}, {-1e38, 1e38}},
		"far":    {{1e12, 0}, {1e12 + 1, 0}},
		"a line": {{0, 0}, {1, 0}, {2, 0}},
	} {
		s := &Scatter{Panels: []Panel{{Points: p}}}
		for _, format := range []Format{SVG, HTML} {
			if text := write(t, s, format); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%s: a place that is no number", name)
			}
		}
		write(t, s, PNG)
	}
}

func TestScatterRefusals(t *testing.T) {
	good := func() *Scatter { return sampleScatter(5, 2) }
	for name, spoil := range map[string]func(s *Scatter){
		"no panels":   func(s *Scatter) { s.Panels = nil },
		"no points":   func(s *Scatter) { s.Panels = []Panel{{}} },
		"other sizes": func(s *Scatter) { s.Panels[1].Points = s.Panels[1].Points[:4] },
		"labels":      func(s *Scatter) { s.Labels = s.Labels[:4] },
		"rows":        func(s *Scatter) { s.Rows = []int{1} },
		"a ring":      func(s *Scatter) { s.Ringed = []int{-1} },
		"NaN":         func(s *Scatter) { s.Panels[1].Points[2].Y = math.NaN() },
		"infinite":    func(s *Scatter) { s.Panels[0].Points[2].X = math.Inf(-1) },
	} {
		s := good()
		spoil(s)
		if err := s.Write(io.Discard, SVG); !errors.Is(err, ErrPlot) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := good().Write(io.Discard, 0); !errors.Is(err, ErrPlot) {
		t.Errorf("format 0: %v", err)
	}
	for _, format := range []Format{SVG, PNG, HTML} {
		if err := good().Write(full{}, format); !errors.Is(err, os.ErrClosed) {
			t.Errorf("format %d: a full disk: %v", format, err)
		}
	}
}

// full is a writer that fails.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrClosed }

// All colours of many classes differ.
func TestColours(t *testing.T) {
	seen := map[string]bool{}
	for i := range 100 {
		seen[css(light().many(i, 100))] = true
	}
	if len(seen) != 100 {
		t.Errorf("%d colours for 100 classes", len(seen))
	}
}

// Each of few classes has its own pair of colour and shape, and neighbours in the list
// differ in both.
func TestShapesOfFewClasses(t *testing.T) {
	for i := 1; i < fewClasses; i++ {
		if shapeOf(i, fewClasses) == shapeOf(i-1, fewClasses) {
			t.Errorf("classes %d and %d have one shape", i-1, i)
		}
	}
}

// Values give a scale with a place for every band, and rows without a value are grey.
func TestScatterOfValues(t *testing.T) {
	s := sampleScatter(600, 3)
	s.Labels, s.Values, s.ValueName = nil, make([]float64, 600), "a <height>"
	for i := range s.Values {
		s.Values[i] = 100 + float64(i)
	}
	s.Values[5], s.Values[6] = math.NaN(), math.Inf(1)
	for _, format := range []Format{SVG, HTML} {
		text := write(t, s, format)
		if got := strings.Count(text, `fill="currentColor"`); got != bands {
			t.Errorf("the scale has %d bands", got)
		}
		for _, word := range []string{"a &lt;height&gt;", "no value (2)", ">200<", ">600<"} {
			if !strings.Contains(text, word) {
				t.Errorf("no %q", word)
			}
		}
		if strings.Contains(text, "No labels") {
			t.Error("the caption is about labels")
		}
	}
	if _, err := png.Decode(strings.NewReader(write(t, s, PNG))); err != nil {
		t.Error(err)
	}
	for _, values := range [][]float64{make([]float64, 600), slices.Repeat([]float64{math.NaN()}, 600), slices.Repeat([]float64{-math.MaxFloat64, math.MaxFloat64, 0}, 200), slices.Repeat([]float64{1e300, 1e300 + 1e285}, 300)} {
		s.Values = values
		for _, format := range []Format{SVG, PNG, HTML} {
			if text := write(t, s, format); strings.Contains(text, "NaN") {
				t.Errorf("values like %v: NaN in the picture", values[:2])
			}
		}
	}
	s.Labels = make([]int32, 600)
	if err := s.Write(io.Discard, SVG); !errors.Is(err, ErrPlot) {
		t.Errorf("labels and values: %v", err)
	}
	s.Labels, s.Values = nil, make([]float64, 3)
	if err := s.Write(io.Discard, SVG); !errors.Is(err, ErrPlot) {
		t.Errorf("3 values: %v", err)
	}
}

// Bands rise with values, and a few distant values do not use up the colours of the others.
func TestScaleOfValues(t *testing.T) {
	values := make([]float64, 1000)
	for i := range values {
		values[i] = float64(i)
	}
	s := newScale(values)
	if s.low != 0 || s.high != 999 || s.band(0) != 0 || s.band(999) != bands-1 || s.band(499) != bands/2-1 || s.band(math.NaN()) != -1 {
		t.Errorf("%+v", s)
	}
	values[3], values[4] = 1e9, -1e9
	s = newScale(values)
	if s.low < -10 || s.high > 1010 || !s.below || !s.beyond || s.band(1e9) != bands-1 || s.band(-1e9) != 0 {
		t.Errorf("with values far away: %+v", s)
	}
}
