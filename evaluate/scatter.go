package evaluate

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// ScatterOptions describes a picture. A nil pointer and zero values mean the
// defaults.
type ScatterOptions struct {
	// Title above the picture, XLabel and YLabel along the axes; default none.
	Title, XLabel, YLabel string
	// ClassNames[c] is the legend of class c; default the number.
	ClassNames []string
	// Hollow lists rows to draw as outlines on top of the others, such as rows
	// that were held out; default none.
	Hollow []int
	// HollowName and FilledName explain the two kinds of markers when Hollow is
	// used; default "held out" and "the rest".
	HollowName, FilledName string
	// Width and Height of the picture, 2 to 100 inches, default 7 x 5; a PNG has
	// 144 pixels an inch.
	Width, Height vg.Length
	// MarkerRadius, at most 2 inches, by default between 0.7 and 3 points by the number of rows.
	MarkerRadius vg.Length
}

const (
	pixelsPerInch = 144   // sharp on dense screens, 1008 x 720 by default
	margin        = 10    // points around everything
	legendGap     = 14    // points between the plot and its legend
	farthest      = 1e300 // beyond it widths of axes could overflow
	smallest      = 2 * vg.Inch
	largest       = 100 * vg.Inch
)

// Scatter draws the rows of pts, n x 2, as points coloured by class and writes
// the picture to w; format is "png" or "svg", with or without the dot of a file
// extension. Both axes have the same scale: distances in the picture are
// distances in the embedding. The ten colours suit the common colour vision
// deficiencies; further classes differ in shape, and beyond thirty, where styles
// repeat, the legend is left out. Rows with a negative label are pale grey, below all
// others. The same input gives the same bytes.
//
// Errors: ErrFormat, ErrShape, ErrNonFinite, ErrRow for a hollow row that does
// not exist, and what w returns.
func Scatter(w io.Writer, format string, pts *mat.Dense, labels []int32, opt *ScatterOptions) error {
	var o ScatterOptions
	if opt != nil {
		o = *opt
	}
	s, err := newScatter(pts, labels, o)
	if err != nil {
		return fmt.Errorf("evaluate: scatter: %w", err)
	}
	var out io.WriterTo
	switch strings.ToLower(strings.TrimPrefix(format, ".")) {
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(s.opt.Width, s.opt.Height), vgimg.UseDPI(pixelsPerInch))
		s.draw(draw.New(c))
		out = vgimg.PngCanvas{Canvas: c}
	case "svg":
		c := vgsvg.New(s.opt.Width, s.opt.Height)
		s.draw(draw.New(c))
		out = c
	default:
		return fmt.Errorf("evaluate: scatter: %w: %q, want png or svg", ErrFormat, format)
	}
	if _, err := out.WriteTo(w); err != nil {
		return fmt.Errorf("evaluate: scatter: %w", err)
	}
	return nil
}

// scatter is a picture with all defaults filled in.
type scatter struct {
	opt     ScatterOptions
	classes []int32     // sorted, without negative ones
	layers  [3]layer    // unlabelled, labelled, hollow: drawn in this order
	legend  plot.Legend // empty when styles repeat
	entries int
}

// layer is points with the place of their class among the sorted classes, or -1.
type layer struct {
	at     plotter.XYs
	place  []int
	hollow bool
}

func newScatter(pts *mat.Dense, labels []int32, opt ScatterOptions) (*scatter, error) {
	if pts == nil || pts.IsEmpty() {
		return nil, fmt.Errorf("%w: no points", ErrShape)
	}
	n, d := pts.Dims()
	if d != 2 || len(labels) != n {
		return nil, fmt.Errorf("%w: %d x %d points, %d labels", ErrShape, n, d, len(labels))
	}
	if err := points.CheckFinite(pts.RawMatrix()); err != nil {
		return nil, err
	}
	if mat.Max(pts) > farthest || mat.Min(pts) < -farthest {
		return nil, fmt.Errorf("%w: coordinates beyond %g", ErrShape, farthest)
	}
	opt = withDefaults(opt, n)
	inRange := func(v, low, high vg.Length) bool { return v >= low && v <= high } // false for NaN
	if !inRange(opt.Width, smallest, largest) || !inRange(opt.Height, smallest, largest) || !inRange(opt.MarkerRadius, 0, smallest) {
		return nil, fmt.Errorf("%w: picture of %.0f x %.0f points, markers of %.1f", ErrShape, opt.Width, opt.Height, opt.MarkerRadius)
	}
	hollow := make([]bool, n)
	for _, row := range opt.Hollow {
		if row < 0 || row >= n {
			return nil, fmt.Errorf("hollow: %w: %d of %d", ErrRow, row, n)
		}
		hollow[row] = true
	}

	s := &scatter{opt: opt, classes: classesOf(labels)}
	s.layers[2].hollow = true
	for i, label := range labels {
		place := -1
		if label >= 0 {
			place, _ = slices.BinarySearch(s.classes, label)
		}
		l := &s.layers[1]
		switch {
		case hollow[i]:
			l = &s.layers[2]
		case place < 0:
			l = &s.layers[0]
		}
		l.at = append(l.at, plotter.XY{X: pts.At(i, 0), Y: pts.At(i, 1)})
		l.place = append(l.place, place)
	}
	s.makeLegend(slices.Min(labels) < 0)
	return s, nil
}

func withDefaults(o ScatterOptions, n int) ScatterOptions {
	if o.Width == 0 {
		o.Width = 7 * vg.Inch
	}
	if o.Height == 0 {
		o.Height = 5 * vg.Inch
	}
	if o.MarkerRadius == 0 {
		// The area a point may take falls as 1/sqrt(n), a compromise between
		// constant ink (1/n) and constant size.
		r := 3 * math.Pow(300/float64(n), 0.25)
		o.MarkerRadius = vg.Points(min(max(r, 0.7), 3))
	}
	if o.HollowName == "" {
		o.HollowName = "held out"
	}
	if o.FilledName == "" {
		o.FilledName = "the rest"
	}
	return o
}

func classesOf(labels []int32) []int32 {
	classes := slices.Clone(labels)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	return slices.DeleteFunc(classes, func(c int32) bool { return c < 0 })
}

func (s *scatter) makeLegend(unlabelled bool) {
	s.legend = plot.NewLegend()
	setText(&s.legend.TextStyle, 10, inkColor)
	s.legend.Top, s.legend.Left = true, true
	s.legend.ThumbnailWidth = vg.Points(12)
	s.legend.Padding = vg.Points(4)
	if len(s.classes) > distinctStyles {
		return
	}
	add := func(name string, style draw.GlyphStyle) {
		s.legend.Add(name, thumbnail(style))
		s.entries++
	}
	const radius = 3.2
	for place, class := range s.classes {
		name := strconv.Itoa(int(class))
		if int(class) < len(s.opt.ClassNames) {
			name = s.opt.ClassNames[class]
		}
		add(name, classStyle(place, false, radius))
	}
	if unlabelled {
		add("unlabelled", classStyle(-1, false, radius))
	}
	if len(s.opt.Hollow) > 0 {
		s.legend.Add("") // a gap: what follows is not a class
		key := classStyle(-1, false, radius)
		key.Color = faintColor
		add(s.opt.FilledName, key)
		key.Shape = marker{hollow: true}
		add(s.opt.HollowName, key)
	}
}

// thumbnail is a marker in the middle of its place in the legend.
type thumbnail draw.GlyphStyle

// Thumbnail implements plot.Thumbnailer.
func (t thumbnail) Thumbnail(c *draw.Canvas) {
	c.DrawGlyphNoClip(draw.GlyphStyle(t), c.Center())
}

func (s *scatter) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	legend := c
	if s.entries > 0 {
		width := s.fitLegend(c)
		legend = draw.Crop(c, c.Size().X-width, 0, 0, 0)
		c = draw.Crop(c, 0, -width-legendGap, 0, 0)
	}
	p := s.plot()
	c = equalScale(p, c)
	p.Draw(c)
	if s.entries > 0 {
		legend.Max.Y = p.DataCanvas(c).Max.Y
		s.legend.Draw(legend)
	}
}

// fitLegend makes the letters smaller until a long legend leaves half of the
// width to the points and a tenth of the height to the title, and returns its
// width. What still does not fit is cut off at the edge of the picture.
func (s *scatter) fitLegend(c draw.Canvas) vg.Length {
	room := vg.Point{X: c.Size().X / 2, Y: 0.9 * c.Size().Y}
	for {
		need := s.legend.Rectangle(c).Size()
		if need.X <= room.X && need.Y <= room.Y || s.legend.TextStyle.Font.Size <= 4 {
			return min(need.X, room.X)
		}
		s.legend.TextStyle.Font.Size--
		s.legend.Padding = 1
	}
}

func (s *scatter) plot() *plot.Plot {
	p := plot.New()
	p.Title.Text = s.opt.Title
	p.Title.Padding = vg.Points(10)
	setText(&p.Title.TextStyle, 13, inkColor)
	p.X.Label.Text, p.Y.Label.Text = s.opt.XLabel, s.opt.YLabel
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		setText(&axis.Label.TextStyle, 10, inkColor)
		setText(&axis.Tick.Label, 9, faintColor)
		axis.LineStyle.Color = axisColor
		axis.Tick.LineStyle.Color = axisColor
		axis.Tick.Length = vg.Points(4)
		axis.Label.Padding = vg.Points(4)
		axis.Padding = 0
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = gridColor, gridColor
	p.Add(grid)
	for _, l := range s.layers {
		if len(l.at) == 0 {
			continue
		}
		p.Add(&plotter.Scatter{XYs: l.at, GlyphStyleFunc: func(i int) draw.GlyphStyle {
			return classStyle(l.place[i], l.hollow, s.opt.MarkerRadius)
		}})
	}
	return p
}

// setText changes size, colour and face, and leaves the alignment, which plot
// has chosen to suit the place of the text.
func setText(style *text.Style, size vg.Length, c color.Color) {
	style.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	style.Color = c
}
