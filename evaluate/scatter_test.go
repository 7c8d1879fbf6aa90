package evaluate

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

func render(t *testing.T, format string, pts *mat.Dense, labels []int32, opt *ScatterOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Scatter(&b, format, pts, labels, opt); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pixels counts the pixels of each of the given colours, exactly.
func pixels(t *testing.T, picture []byte, colors ...color.NRGBA) (image.Rectangle, []int) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	count := make([]int, len(colors))
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			for i, c := range colors {
				if color.NRGBAModel.Convert(img.At(x, y)) == c {
					count[i]++
				}
			}
		}
	}
	return img.Bounds(), count
}

func TestScatterPNG(t *testing.T) {
	pts := mat.NewDense(4, 2, []float64{0, 0, 1, 0, 0, 1, 1, 1})
	labels := []int32{7, 7, 3, -1}
	picture := render(t, ".PNG", pts, labels, &ScatterOptions{Title: "Four points", MarkerRadius: 6})
	// Classes 3 and 7 take the first two colours.
	size, count := pixels(t, picture, classColors[0], classColors[1], unlabelledColor, classColors[2])
	if size.Dx() != 1008 || size.Dy() != 720 {
		t.Errorf("size %v", size)
	}
	// A marker of radius 6 points covers pi*12^2 = 452 pixels less its rim, its
	// place in the legend pi*6.4^2 = 129 less the rim.
	for i, want := range []int{452 + 129, 2*452 + 129, 452 + 129, 0} {
		if got := float64(count[i]); got > float64(want) || got < 0.75*float64(want) {
			t.Errorf("colour %d covers %v pixels, want a little less than %d", i, got, want)
		}
	}

	size, _ = pixels(t, render(t, "png", pts, labels, &ScatterOptions{Width: 3 * vg.Inch, Height: 2 * vg.Inch}))
	if size.Dx() != 432 || size.Dy() != 288 {
		t.Errorf("3 x 2 inches give %v", size)
	}
}

// A hollow marker leaves its inside white: less of the colour than a filled one.
func TestScatterHollow(t *testing.T) {
	pts := mat.NewDense(2, 2, []float64{0, 0, 1, 1})
	labels := []int32{0, 1}
	picture := render(t, "png", pts, labels, &ScatterOptions{Hollow: []int{1}, MarkerRadius: 8, Width: 3 * vg.Inch, Height: 2 * vg.Inch})
	_, count := pixels(t, picture, classColors[0], classColors[1])
	if legend := 129; count[1]-legend > (count[0]-legend)*3/4 || count[1] <= legend {
		t.Errorf("filled %d pixels, hollow %d", count[0], count[1])
	}
	svg := string(render(t, "svg", pts, labels, &ScatterOptions{Hollow: []int{1}, HollowName: "queries"}))
	if !strings.Contains(svg, ">queries<") || !strings.Contains(svg, ">the rest<") {
		t.Error("markers are not explained")
	}
}

func TestScatterSVG(t *testing.T) {
	pts := mat.NewDense(3, 2, []float64{0, 0, 1, 2, 3, 1})
	svg := render(t, "svg", pts, []int32{0, 1, 2}, &ScatterOptions{
		Title: "A < B & C", XLabel: "across", YLabel: "up", ClassNames: []string{"ant", "bee"},
	})
	var words []string
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if w, ok := token.(xml.CharData); ok {
			words = append(words, string(w))
		}
	}
	all := strings.Join(words, "|")
	for _, want := range []string{"A < B & C", "across", "up", "ant", "bee", "|2|"} {
		if !strings.Contains(all, want) {
			t.Errorf("picture lacks %q", want)
		}
	}
}

// Whatever the points, the picture has both axes at one scale and finite.
func TestEqualScale(t *testing.T) {
	for _, c := range []struct {
		name                   string
		minX, maxX, minY, maxY float64
	}{
		{"wide", -100, 100, 0, 1},
		{"high", 0, 1, -1e6, 1e6},
		{"one point", 5, 5, 5, 5},
		{"far away", 1e20, 1e20, -1e20, -1e20},
		{"a line", 0, 0, 1, 3},
		{"tiny", 0, 1e-200, 0, 1e-200},
		{"subnormal", 0, 5e-324, 0, 0},
		{"one ulp", 1e15, math.Nextafter(1e15, 2e15), 0, 0},
		{"huge", -1e300, 1e300, -1e300, 1e300},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plot.New()
			p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = c.minX, c.maxX, c.minY, c.maxY
			canvas := draw.New(vgimg.New(300, 200))
			canvas = equalScale(p, canvas)
			if s := canvas.Size(); s.X < 250 || s.Y < 160 {
				t.Errorf("%v of 300 x 200 points are left", s)
			}
			size := p.DataCanvas(canvas).Size()
			x, y := (p.X.Max-p.X.Min)/float64(size.X), (p.Y.Max-p.Y.Min)/float64(size.Y)
			if !(x > 0) || math.IsInf(x, 0) || math.Abs(x-y) > 0.002*x {
				t.Errorf("a point of the picture is %v by %v", x, y)
			}
			if p.X.Min > c.minX || p.X.Max < c.maxX || p.Y.Min > c.minY || p.Y.Max < c.maxY {
				t.Error("points were cut off")
			}
			if n := len(p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max)); n < 3 || n > 8 {
				t.Errorf("%d ticks", n)
			}
		})
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{-30.5, 30.5, "-30 -20 -10 0 10 20 30"},
		{0, 1, "0 0.2 0.4 0.6 0.8 1.0"},
		{-0.013, 0.012, "-0.010 -0.005 0 0.005 0.010"},
		{0, 3e7, "0 5e+06 1e+07 1.5e+07 2e+07 2.5e+07 3e+07"},
	} {
		var labels []string
		for _, tick := range ticksFor(c.high-c.low).Ticks(c.low, c.high) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%v..%v: %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

func TestScatterTakesAnyNumberOfClasses(t *testing.T) {
	for _, n := range []int{1, 10, 30, 31, 300} {
		pts := mat.NewDense(n, 2, nil)
		labels := make([]int32, n)
		names := make([]string, n)
		for i := range n {
			pts.SetRow(i, []float64{float64(i % 7), float64(i / 7)})
			labels[i] = int32(i)
			names[i] = fmt.Sprintf("class number %d with a name longer than it ought to be for any picture", i)
		}
		svg := string(render(t, "svg", pts, labels, &ScatterOptions{ClassNames: names, Width: 3 * vg.Inch, Height: 2 * vg.Inch}))
		if got, want := strings.Contains(svg, "class number 0 "), n <= distinctStyles; got != want {
			t.Errorf("%d classes: legend %v, want %v", n, got, want)
		}
	}
	seen := map[string]bool{}
	for place := range distinctStyles {
		style := classStyle(place, false, 1)
		seen[fmt.Sprint(style.Color, style.Shape)] = true
	}
	if len(seen) != 30 {
		t.Errorf("%d styles, want 30", len(seen))
	}
}

func TestScatterErrors(t *testing.T) {
	ok := mat.NewDense(2, 2, []float64{0, 0, 1, 1})
	two := []int32{0, 1}
	for _, c := range []struct {
		name   string
		format string
		pts    *mat.Dense
		labels []int32
		opt    *ScatterOptions
		want   error
	}{
		{"format", "pdf", ok, two, nil, ErrFormat},
		{"no format", "", ok, two, nil, ErrFormat},
		{"nil points", "png", nil, nil, nil, ErrShape},
		{"no points", "png", &mat.Dense{}, nil, nil, ErrShape},
		{"three columns", "png", mat.NewDense(2, 3, nil), two, nil, ErrShape},
		{"labels missing", "png", ok, two[:1], nil, ErrShape},
		{"nan", "png", mat.NewDense(2, 2, []float64{0, 0, math.NaN(), 1}), two, nil, ErrNonFinite},
		{"too far", "png", mat.NewDense(2, 2, []float64{0, 0, 1e301, 1}), two, nil, ErrShape},
		{"hollow row", "png", ok, two, &ScatterOptions{Hollow: []int{2}}, ErrRow},
		{"negative width", "png", ok, two, &ScatterOptions{Width: -1}, ErrShape},
		{"too small", "png", ok, two, &ScatterOptions{Height: 20}, ErrShape},
		{"too large", "png", ok, two, &ScatterOptions{Width: 1e9}, ErrShape},
		{"not a number", "png", ok, two, &ScatterOptions{Width: vg.Length(math.NaN())}, ErrShape},
		{"negative radius", "png", ok, two, &ScatterOptions{MarkerRadius: -1}, ErrShape},
	} {
		if err := Scatter(io.Discard, c.format, c.pts, c.labels, c.opt); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	if err := Scatter(brokenPipe{}, "svg", ok, two, nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("broken writer: error %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Every two classes must look different to everybody. Colours are seen through
// the matrices of Machado, Oliveira and Fernandes (2009, table 1, severity 1.0),
// applied to linear sRGB, and compared by the CIE 1976 distance in Lab, where 2.3
// is just noticeable.
func TestColorsStayApart(t *testing.T) {
	const apart = 15
	for name, m := range map[string][9]float64{
		"normal": {1, 0, 0, 0, 1, 0, 0, 0, 1},
		"protan": {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
		"deutan": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
		"tritan": {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
	} {
		all := append(classColors[:], unlabelledColor, color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff})
		for i := range all {
			for j := range i {
				a, b := lab(all[i], m), lab(all[j], m)
				d := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
				// Unlabelled rows may come near the paper, not near a class.
				if d < apart && j < len(classColors) {
					t.Errorf("%s: colours %d and %d are %.1f apart", name, j, i, d)
				}
			}
		}
	}
}

func lab(c color.NRGBA, see [9]float64) [3]float64 {
	var linear [3]float64
	for i, v := range []uint8{c.R, c.G, c.B} {
		if u := float64(v) / 255; u <= 0.04045 {
			linear[i] = u / 12.92
		} else {
			linear[i] = math.Pow((u+0.055)/1.055, 2.4)
		}
	}
	mul := func(m [9]float64, v [3]float64) (out [3]float64) {
		for i := range out {
			out[i] = m[3*i]*v[0] + m[3*i+1]*v[1] + m[3*i+2]*v[2]
		}
		return out
	}
	seen := mul(see, linear)
	for i := range seen {
		seen[i] = min(max(seen[i], 0), 1)
	}
	xyz := mul([9]float64{0.4124, 0.3576, 0.1805, 0.2126, 0.7152, 0.0722, 0.0193, 0.1192, 0.9505}, seen)
	f := func(t float64) float64 {
		if t > 0.008856 {
			return math.Cbrt(t)
		}
		return 7.787*t + 16./116
	}
	x, y, z := f(xyz[0]/0.95047), f(xyz[1]), f(xyz[2]/1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// The same input gives the same bytes, also from several goroutines.
func TestScatterIsReproducible(t *testing.T) {
	pts := mat.NewDense(3, 2, []float64{0, 0, 1, 2, 3, 1})
	labels := []int32{0, 1, 2}
	opt := &ScatterOptions{Title: "t", Width: 2 * vg.Inch, Height: 2 * vg.Inch}
	for _, format := range []string{"png", "svg"} {
		want := render(t, format, pts, labels, opt)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				var b bytes.Buffer
				if err := Scatter(&b, format, pts, labels, opt); err != nil || !bytes.Equal(b.Bytes(), want) {
					t.Errorf("%s: another picture, error %v", format, err)
				}
			})
		}
		wg.Wait()
	}
}
