package plot

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A logarithmic axis has numbers over less than a power of ten and over many.
func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0.07, 3, "0.1 0.2 0.5 1 2"}, {1.1, 4, "1.5 2 3 4"}, {0.013, 0.04, "0.015 0.02 0.03 0.04"}, {1, 50, "1 2 5 10 20 50"}, {0.5, 60000, "1 10 100 1000 10000"}, {0, 1, ""}, {math.NaN(), 1, ""}, {1, math.Inf(1), ""},
	} {
		var labels []string
		for _, tick := range logTicks(c.lo, c.hi) {
			labels = append(labels, tick.text)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("from %g to %g: %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
}

// Numbers stand where they belong: at equal distances, or at those of their powers of ten.
func TestRuler(t *testing.T) {
	bytes := func(v float64) string { return fmt.Sprintf("%g B", v) }
	r := newRuler(&Axis{Log: true, Show: bytes}, []float64{2e3, 5e6, 0, math.NaN()}, 300, 100)
	if len(r.ticks) != 3 || r.ticks[0].text != "10000 B" || r.ticks[2].text != "1e+06 B" {
		t.Errorf("%v", r.ticks)
	}
	if lo, mid, hi := r.at(1e4), r.at(1e5), r.at(1e6); !(lo < 300 && hi > 100) || math.Abs(mid-(lo+hi)/2) > 1e-9 {
		t.Errorf("%g, %g, %g", lo, mid, hi)
	}
	r = newRuler(&Axis{High: 1, Ticks: []float64{0.25, 0.5}}, []float64{7}, 0, 10)
	if r.at(0) != 0 || r.at(0.5) != 5 || r.at(7) != 10 || r.at(-1) != 0 || len(r.ticks) != 2 || r.ticks[0].text != "0.25" {
		t.Errorf("%+v", r)
	}
	for _, numbers := range [][]float64{nil, {3}, {3, 3}, {math.NaN()}, {math.Inf(1), 2}, {1e12, 1e12 + 1}} {
		for _, log := range []bool{false, true} {
			if r := newRuler(&Axis{Log: log}, numbers, 0, 10); !(r.low < r.high) {
				t.Errorf("%v: from %g to %g", numbers, r.low, r.high)
			}
		}
	}
}

// sampleChart has a series of each look.
func sampleChart() *Chart {
	return &Chart{
		Title: "a <chart>", X: Axis{Name: "x & more"}, Y: Axis{Name: "y", High: 1},
		Series: []Series{
			{Name: "measured", Points: []Sample{{X: 1, Y: .2, Low: .1, High: .3}, {X: 2, Y: .5, Text: "half"}}},
			{Name: "marks", Colour: 13, Look: Marks, Points: []Sample{{X: 1.5, Y: .4}}},
			{Name: "formula", Colour: -1, Look: Dashed, Points: []Sample{{X: 1, Y: .1}, {X: 3, Y: 2}}},
			{Name: "level", Colour: 2, Look: Level, Points: []Sample{{X: math.NaN(), Y: .9}}},
			{Points: []Sample{{X: 2, Y: .1}}}, // not in the list
			{Name: "empty"},
		},
	}
}

// A chart has a mark for each point that was measured and one in the list, a bar where there is
// one, and every word; it is well-formed and the same each time.
func TestChart(t *testing.T) {
	text := sampleChart().Element()
	if text != sampleChart().Element() {
		t.Error("the same chart gave other bytes")
	}
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for part, want := range map[string]int{
		`class="bar"`: 1, `<title>`: 4 + 3, `class="line"`: 2 + 2, `class="dashed"`: 2, `class="level"`: 2, `<g class="c1">`: 2, `<g class="k">`: 2,
		"measured at 1: 0.2 (0.1 to 0.3)": 1, ">half<": 1, ">x &amp; more<": 1, ">y<": 1, "a &lt;chart&gt;": 2, ">level<": 1, ">0.5<": 0, ">0.6<": 1, "NaN": 0, "<style": 0,
	} {
		if got := strings.Count(text, part); got != want {
			t.Errorf("%d of %s, want %d in\n%s", got, part, want, text)
		}
	}
	c := sampleChart()
	c.Series[0].Points[0].Low, c.Series[0].Points[0].High, c.Sideways = .9, 1.4, true
	bar := regexp.MustCompile(`class="bar" x1="([^"]+)" y1="([^"]+)" x2="([^"]+)" y2="([^"]+)"`).FindStringSubmatch(c.Element())
	if bar == nil || bar[2] != bar[4] || bar[1] == bar[3] {
		t.Errorf("a bar along X: %q", bar)
	}
	var picture strings.Builder
	if err := c.Write(&picture); err != nil || !strings.Contains(picture.String(), "<title>a &lt;chart&gt;</title><style>") {
		t.Errorf("%v\n%s", err, picture.String())
	}
	if err := c.Write(full{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a full disk: %v", err)
	}
}

// Nothing leaves the picture or meets in it: long names are cut, the list breaks into lines, and
// numbers of an axis that would touch are left out.
func TestChartHasRoom(t *testing.T) {
	c := &Chart{Title: strings.Repeat("title ", 100), X: Axis{}, Y: Axis{Ticks: []float64{1}, Show: func(float64) string { return strings.Repeat("name ", 100) }}}
	for i := range 40 {
		c.X.Ticks = append(c.X.Ticks, float64(i))
		c.Series = append(c.Series, Series{Name: strings.Repeat("long ", i+1), Points: []Sample{{X: float64(i), Y: 1}}})
	}
	text := c.Element()
	var last float64
	for _, m := range regexp.MustCompile(`<text class="s" x="([\d.]+)" y="[\d.]+" font-size="11.5" text-anchor="middle">(\d+)<`).FindAllStringSubmatch(text, -1) {
		at, err := strconv.ParseFloat(m[1], 64)
		if err != nil || at < last+10 || at > 560 {
			t.Errorf("%s at %g after %g, %v", m[2], at, last, err)
		}
		last = at
	}
	if strings.Count(text, "…") < 10 || last == 0 {
		t.Errorf("no text was cut:\n%s", text)
	}
	for _, m := range regexp.MustCompile(`M([\d.]+) [\d.]+h0"><title>`).FindAllStringSubmatch(text, -1) {
		if at, err := strconv.ParseFloat(m[1], 64); err != nil || at < 0 || at > 560 {
			t.Errorf("a mark at %s", m[1])
		}
	}
}

func TestPlaces(t *testing.T) {
	if got := Places(sampleChart().Series); !slices.Equal(got, []float64{1, 1.5, 2}) {
		t.Errorf("%v", got)
	}
}

// A page has a rule for each class of its elements, in light and dark.
func TestStyle(t *testing.T) {
	s := &Scatter{Labels: []int32{0, 1, -1}, Ringed: []int{2}, Panels: []Panel{{Points: []Point{{0, 0}, {1, 1}, {1, 0}}}}}
	scatter, err := s.Element()
	if err != nil {
		t.Fatal(err)
	}
	light, dark, ok := strings.Cut(Style(true), "@media")
	if !ok || strings.Contains(Style(false), "@media") {
		t.Error("dark colours")
	}
	for _, m := range regexp.MustCompile(`class="([^"]*)"`).FindAllStringSubmatch(sampleChart().Element()+scatter, -1) {
		for class := range strings.FieldsSeq(m[1]) {
			if !strings.Contains(light, "."+class+"{") && !strings.Contains(light, "."+class+",") {
				t.Errorf("no rule for %s", class)
			}
			if strings.HasPrefix(class, "c") && !strings.Contains(dark, "."+class+"{") {
				t.Errorf("no dark colour for %s", class)
			}
		}
	}
}

// A scatter as an element has a mark for each row, in classes that go around the palette, and rings.
func TestScatterElement(t *testing.T) {
	s := sampleScatter(600, 30)
	s.Panels, s.Ringed = s.Panels[:1], []int{3, 7}
	text, err := s.Element()
	if err != nil {
		t.Fatal(err)
	}
	if marks, rings := strings.Count(text, "M"), strings.Count(text, "<circle"); marks != 600 || rings != 2 || strings.Contains(text, `c12"`) || !strings.Contains(text, `class="m c0"`) || !strings.Contains(text, `class="d n"`) {
		t.Errorf("%d marks and %d rings in\n%s", marks, rings, text)
	}
	s.Ringed = []int{600}
	if _, err := s.Element(); !errors.Is(err, ErrPlot) {
		t.Errorf("a ring around no row: %v", err)
	}
	for _, s := range []*Scatter{{}, sampleScatter(5, 2), {Panels: s.Panels}} {
		if _, err := s.Element(); !errors.Is(err, ErrPlot) {
			t.Errorf("%d panels, %d labels: %v", len(s.Panels), len(s.Labels), err)
		}
	}
}
