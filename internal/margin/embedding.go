package margin

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

// ErrClasses reports labels of fewer than two classes: nothing lies between classes then.
var ErrClasses = errors.New("labels of fewer than two classes")

// An Embedding is rows with labels, the places that are searched, and how new rows get theirs.
type Embedding struct {
	// Rows are what balls are drawn around, n x d.
	Rows blas32.General
	// Places are searched by the nearest neighbour, n x k.
	Places blas32.General
	// Images are where the interpolation takes Rows, n x k. Without any, it takes them to Places.
	Images blas32.General
	// Labels has one for each row, -1 for none.
	Labels []int32
	Interpolation
}

// An Interpolation is how new rows are placed. Exactly one of Lipschitz, Smoothest and Neighbours
// is given.
type Interpolation struct {
	// Lipschitz bounds |f(u) - f(v)| by Lipschitz |u - v|, before a division by norms.
	Lipschitz float64
	// Smoothest stands for the function through all places with the least Lipschitz constant
	// there is. By Kirszbraun's theorem that constant is the largest ratio of a distance of
	// places and a distance of rows.
	Smoothest bool
	// Neighbours is the k of Engine.Extend. Its function jumps where another row becomes the
	// last of the k neighbours, so it has no Lipschitz constant.
	Neighbours int

	// Unit says that images are divided by their norm, which is Floor at least for the rows
	// themselves.
	Unit  bool
	Floor float64
	// Rounding is by how much an image may be off what the interpolation says.
	Rounding float64
}

// Settings steer a diagnosis. The zero value of each field, and a nil pointer, mean the default.
type Settings struct {
	// Confidence is that of the masses, for all classes and radii at once. Default: .95.
	Confidence float64
	// Anchors is the most rows of a class around which masses are measured. Default: 1000.
	Anchors int
	// Seed draws the anchors of larger classes.
	Seed uint64
	// Workers share the work. Default: the caller alone.
	Workers *par.Workers
	// Kernels are the loops. Default: the best of the machine. The bits do not depend on them.
	Kernels *simd.Kernels
	// Progress is told how far a stage of the work has come.
	Progress func(stage string, done, total int)
	// Pairs is how many differences of two numbers may be computed for A_delta, default 4e10.
	// Where the pairs within classes have more, A_delta is the bound that follows from the
	// interpolation.
	Pairs float64
}

// complete returns the settings with defaults.
func (s *Settings) complete() (Settings, error) {
	var out Settings
	if s != nil {
		out = *s
	}
	if out.Confidence == 0 {
		out.Confidence = .95
	}
	if out.Anchors == 0 {
		out.Anchors = 1000
	}
	if out.Pairs == 0 {
		out.Pairs = 4e10
	}
	if out.Kernels == nil {
		out.Kernels = simd.At(simd.Best())
	}
	if !(out.Confidence > 0 && out.Confidence < 1) || out.Anchors < 0 || !(out.Pairs >= 0) {
		return out, fmt.Errorf("margin: %w: confidence %g, %d anchors and %g pairs, want a confidence between 0 and 1, and numbers of 0 or more", privatemail.ErrSettings, out.Confidence, out.Anchors, out.Pairs)
	}
	return out, nil
}

// A class is the rows with one label.
type class struct {
	label int32
	rows  []uint32 // rising
}

// classesOf lists the classes, by their labels. Rows below 0 have none.
func classesOf(labels []int32) (classes []class) {
	at := make(map[int32]int)
	names := slices.Clone(labels)
	slices.Sort(names)
	for _, label := range slices.Compact(names) {
		if label >= 0 {
			at[label] = len(classes)
			classes = append(classes, class{label: label})
		}
	}
	for i, label := range labels {
		if label >= 0 {
			c := &classes[at[label]]
			c.rows = append(c.rows, uint32(i))
		}
	}
	return classes
}

// CheckLabels returns ErrClasses for labels that nothing can be said of, before long work.
func CheckLabels(labels []int32) error {
	first := int32(-1)
	for _, label := range labels {
		switch {
		case label < 0 || label == first:
		case first >= 0:
			return nil
		default:
			first = label
		}
	}
	return fmt.Errorf("margin: %w: no row lies between classes", ErrClasses)
}

// check refuses matrices that do not fit each other.
func (e *Embedding) check() error {
	n, d, err := points.Dims(e.Rows)
	if err != nil {
		return fmt.Errorf("margin: rows: %w", err)
	}
	if n < 1 || d < 1 || len(e.Labels) != n || uint64(n) > math.MaxUint32 {
		return fmt.Errorf("margin: %w: %d x %d rows, %d labels", points.ErrShape, n, d, len(e.Labels))
	}
	if e.Places.Cols < 1 {
		return fmt.Errorf("margin: %w: places of no column", points.ErrShape)
	}
	for _, m := range []struct {
		what string
		rows blas32.General
	}{{"rows", e.Rows}, {"places", e.Places}, {"images", e.images()}} {
		cols := e.Places.Cols
		if m.what == "rows" {
			cols = d
		}
		if err := points.CheckSize(m.rows, n, cols); err != nil {
			return fmt.Errorf("margin: %s: %w", m.what, err)
		}
		if err := points.CheckFinite(m.rows); err != nil {
			return fmt.Errorf("margin: %s: %w", m.what, err)
		}
	}
	return e.Interpolation.check(n)
}

func (f *Interpolation) check(n int) error {
	given := 0
	for _, has := range []bool{f.Lipschitz != 0, f.Smoothest, f.Neighbours != 0} {
		if has {
			given++
		}
	}
	switch {
	case given != 1:
		return fmt.Errorf("margin: %w: %d of a Lipschitz constant, the smoothest function and neighbours are given, want one", privatemail.ErrSettings, given)
	case !(f.Lipschitz >= 0) || f.Neighbours < 0 || f.Neighbours > n || !(f.Floor >= 0) || !(f.Rounding >= 0):
		return fmt.Errorf("margin: %w: Lipschitz constant %g, %d neighbours of %d rows, norms from %g, rounding %g", privatemail.ErrSettings, f.Lipschitz, f.Neighbours, n, f.Floor, f.Rounding)
	case f.Smoothest && f.Unit:
		return fmt.Errorf("margin: %w: the smoothest function is not divided by its norm", privatemail.ErrSettings)
	}
	return nil
}

// images are where the interpolation takes the rows.
func (e *Embedding) images() blas32.General {
	if e.Images.Data == nil && e.Images.Rows == 0 {
		return e.Places
	}
	return e.Images
}

func rowOf(x blas32.General, i uint32) []float32 { return x.Data[int(i)*x.Stride:][:x.Cols] }

// distance of two rows.
func distance(a, b []float32) float64 {
	var sum float64
	for j, v := range a {
		t := float64(v) - float64(b[j])
		sum += float64(t * t)
	}
	return math.Sqrt(sum)
}
